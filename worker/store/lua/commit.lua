-- Makes a staged job visible, all of it at once.
-- ARGV: job id, epoch, request key or '', digest, total, results among its rows, class,
-- client, then fields and values.
-- Returns {'new'|'old', job id}, {'conflict'} or {'staging'}.
local id, epoch, request, digest, total, cached, class, client = unpack(ARGV, 1, 8)
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

local submission = create_job(id, class, client, total, cached, request, unpack(ARGV, 9))
for _, key in ipairs({units, rows, order}) do
  call('PERSIST', key)
end
if request ~= '' then
  call('HSET', request, 'job', id, 'digest', digest)
end
call('ZADD', 'tw:jobs:' .. client, submission, id)
open_job(id)
return {'new', id}
