#!lua flags=allow-oom
-- Ends the claims past their deadline and forgets the jobs whose time to be kept has passed; some
-- of each a call, so that no call is long.
-- ARGV: max attempts.
-- Returns {claims lost, units to be tried again, units given up, jobs removed}.
local BATCH = 100
local max_attempts, now = tonumber(ARGV[1]), text(now_ms())
local lost, retried, given_up = 0, 0, 0
for _, token in ipairs(call('ZRANGEBYSCORE', 'tw:claims', '-inf', now, 'LIMIT', 0, BATCH)) do
  local worker = call('HGET', 'tw:claim:' .. token, 'worker')
  local again, over = lose_claim(token, max_attempts,
    'its worker ' .. worker .. ' died or gave no sign of progress')
  lost, retried, given_up = lost + 1, retried + again, given_up + over
end
local ended = call('ZRANGEBYSCORE', 'tw:ended', '-inf', now, 'LIMIT', 0, BATCH)
for _, member in ipairs(ended) do
  local id, client = string.match(member, '^(%S+) (.*)$')
  call('ZREM', 'tw:ended', member)
  call('ZREM', 'tw:jobs:' .. client, id)
  call('UNLINK', job_key(id))
  for _, part in ipairs(PARTS) do
    call('UNLINK', job_key(id) .. part)
  end
end
return {lost, retried, given_up, #ended}
