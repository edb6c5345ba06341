-- Makes a staged job visible, all of it at once.
-- ARGV: job id, epoch, request key or '', digest, total, results among its rows, class,
-- client, API key's id or '', then fields and values.
-- Returns {'new'|'old', job id}, {'conflict'}, {'staging'} or what `charge` refuses with.
local id, epoch, request, digest, total, cached, class, client, api_key = unpack(ARGV, 1, 9)
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

local refusal = charge(api_key, 1, total)
if refusal then
  return refusal
end
local submission = create_job(id, class, client, total, cached, request,
  'api_key', api_key, unpack(ARGV, 10))
for _, key in ipairs({units, rows, order}) do
  call('PERSIST', key)
end
if request ~= '' then
  call('HSET', request, 'job', id, 'digest', digest)
end
call('ZADD', 'tw:jobs:' .. client, submission, id)
open_job(id)
return {'new', id}
