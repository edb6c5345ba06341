-- Makes a job of one unit that lives while its caller attends to it, if there is a worker to do it.
-- ARGV: job id, ms that it lives without a sign of the caller, class, client, unit, then fields and
-- values. Returns 1, or 0 when no worker is there.
local id, ms, class, client, unit = unpack(ARGV, 1, 5)
local now = now_ms()
if call('ZCOUNT', 'tw:workers', text(now), '+inf') == 0 then
  return 0
end
create_job(id, class, client, 1, '', 'attended', 1, unpack(ARGV, 6))
call('RPUSH', job_key(id) .. ':units', unit)
call('ZADD', 'tw:attended', text(now + ms), id)
open_job(id)
return 1
