-- Makes a staged job visible, all of it at once.
-- ARGV: job id, epoch, request key or '', digest, total, class, client, ms for which somebody attends
-- it or '', then fields and values.
-- Returns {'new'|'old', job id}, {'conflict'} or {'staging'}.
local id, epoch, request, digest, total, class, client, attended_ms = unpack(ARGV, 1, 8)
local units, rows, order = job_key(id) .. ':units', job_key(id) .. ':rows', job_key(id) .. ':order'
total = tonumber(total)

if call('EXISTS', job_key(id)) == 1 then
  return {'old', id} -- the answer to the first call was lost on its way
end
if request ~= '' then
  local old_id, old_digest = unpack(call('HMGET', request, 'job', 'digest'))
  if old_id then
    call('UNLINK', units, rows, order)
    return old_digest == digest and {'old', old_id} or {'conflict'}
  end
end
if call('GET', 'tw:epoch') ~= epoch or call('LLEN', units) ~= total then
  return {'staging'}
end

local rejected = call('HLEN', rows)
local submission = text(next_number())
call('HSET', job_key(id), 'class', class, 'client', client, 'total', text(total),
  'rejected', text(rejected), 'submission', submission, 'request_key', request,
  'created_ms', text(now_ms()), 'next', 0, 'claimable', 0, 'done', 0, 'quarantined', 0,
  'nodes', 0, 'search_us', 0, 'attempts', 0, unpack(ARGV, 9))
for _, key in ipairs({units, rows, order}) do
  call('PERSIST', key)
end
if request ~= '' then
  call('HSET', request, 'job', id, 'digest', digest)
end
if attended_ms == '' then
  call('ZADD', 'tw:jobs:' .. client, submission, id)
else
  call('HSET', job_key(id), 'attended', 1)
  call('ZADD', 'tw:attended', text(now_ms() + attended_ms), id)
end
call('HINCRBY', 'tw:totals', 'rejected', text(rejected))
set_state(id, 'QUEUED')
add_claimable(id, total - rejected)
settle(id)
return {'new', id}
