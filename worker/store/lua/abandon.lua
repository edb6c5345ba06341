#!lua flags=allow-oom
-- Ends a claim whose worker is about to die, at once and with the cause.
-- ARGV: token, max attempts, cause. Returns 1, or 0 when the claim is gone.
local token, max_attempts, cause = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if call('EXISTS', 'tw:claim:' .. token) == 0 then
  return 0
end
lose_claim(token, max_attempts, cause)
return 1
