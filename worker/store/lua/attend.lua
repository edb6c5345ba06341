#!lua flags=allow-oom
-- Lets an attended job live for some time more.
-- ARGV: job id, ms. Returns 1, or 0 when there is no such job.
local id, ms = ARGV[1], ARGV[2]
if not call('ZSCORE', 'tw:attended', id) then
  return 0
end
call('ZADD', 'tw:attended', text(now_ms() + ms), id)
return 1
