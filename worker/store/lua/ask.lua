-- Makes a job that lives while its caller attends to it, if there is a worker to do it.
-- ARGV: job id, ms that it lives without a sign of the caller, class, client, API key's id or '',
-- number of units, the units, then fields and values.
-- Returns {'new'}, {'alone'} when no worker is there, or what `charge` refuses with.
local id, ms, class, client, api_key, count = unpack(ARGV, 1, 6)
local last = 6 + count
local now = now_ms()
if call('ZCOUNT', 'tw:workers', text(now), '+inf') == 0 then
  return {'alone'}
end
local refusal = charge(api_key, 0, count)
if refusal then
  return refusal
end
create_job(id, class, client, count, 0, '', 'api_key', api_key, unpack(ARGV, last + 1))
call('RPUSH', job_key(id) .. ':units', unpack(ARGV, 7, last))
call('ZADD', 'tw:attended', text(now + ms), id)
open_job(id)
return {'new'}
