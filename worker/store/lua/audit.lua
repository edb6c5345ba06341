-- Has a result found again by another worker host, if one is there and not too many wait.
-- ARGV: job id, worker that found it, ms to wait, most that wait, row, cache key, unit, then fields
-- and values. Returns 1, or 0 when it is not going to be checked.
local id, worker, ms, most, row, key, unit = unpack(ARGV, 1, 7)
local now = now_ms()
local there = call('ZRANGEBYSCORE', 'tw:workers', '(' .. text(now), '+inf', 'LIMIT', 0, 2)
local is_alone = #there == 0 or #there == 1 and there[1] == worker
if is_alone or call('ZCARD', queue_key('BACKGROUND', AUDITS)) >= tonumber(most) then
  call('HINCRBY', 'tw:totals', 'audits:unchecked', 1)
  return 0
end
create_job(id, 'BACKGROUND', AUDITS, 1, 0, '', 'audited', worker, 'first', row, 'cache_key', key,
  unpack(ARGV, 8))
call('RPUSH', job_key(id) .. ':units', unit)
call('ZADD', 'tw:attended', text(now + ms), id)
open_job(id)
return 1
