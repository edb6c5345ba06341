-- Makes a job that lives while its caller attends to it, if there is a worker to do it.
-- ARGV: job id, ms that it lives without a sign of the caller, class, client, number of units, the
-- units, then fields and values. Returns 1, or 0 when no worker is there.
local id, ms, class, client, count = unpack(ARGV, 1, 5)
local last = 5 + count
local now = now_ms()
if call('ZCOUNT', 'tw:workers', text(now), '+inf') == 0 then
  return 0
end
create_job(id, class, client, count, 0, '', unpack(ARGV, last + 1))
call('RPUSH', job_key(id) .. ':units', unpack(ARGV, 6, last))
call('ZADD', 'tw:attended', text(now + ms), id)
open_job(id)
return 1
