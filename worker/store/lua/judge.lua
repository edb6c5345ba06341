#!lua flags=allow-oom
-- Counts what became of an audit, and forgets it.
-- ARGV: job id, verdict, most disagreements, ms to keep them, key of the cached result; for a
-- disagreement also both results as hexadecimal digits. Returns 1, or 0 when it was judged before.
local id, verdict, most, ms, key, first, second = unpack(ARGV)
if call('LREM', 'tw:audits', 1, id) == 0 then
  return 0
end
call('HINCRBY', 'tw:totals', 'audits:' .. verdict, 1)
if first then
  call('LPUSH', 'tw:disagreements', text(now_ms()) .. ' ' .. first .. ' ' .. second)
  call('LTRIM', 'tw:disagreements', 0, most - 1)
  call('PEXPIRE', 'tw:disagreements', ms)
  forget_result(key)
end
forget_job(id, AUDITS)
return 1
