#!lua flags=allow-oom
-- Ends a claim whose worker is about to die, at once and with the cause.
-- ARGV: token, job id, max attempts, cause. Returns 1, or 0 when the claim is gone.
local token, id, max_attempts, cause = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
if not holds(token, id) then
  return 0
end
lose_claim(token, max_attempts, cause)
return 1
