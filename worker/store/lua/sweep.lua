#!lua flags=allow-oom
-- Ends the claims past their deadline, forgets the jobs whose time to be kept has passed, and removes
-- those that nobody attends any more; some of each a call, so that no call is long.
-- ARGV: max attempts, lease in ms, ms without a sweep that mean trouble.
-- Returns {claims lost, units to be tried again, units given up, jobs removed, 1 if there may be
-- more}.
local BATCH = 100
local RUNNING_MS = 60000 -- that an audit lives on while a worker has it in hand
local max_attempts, lease, gap = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- While the server was away no claim could be renewed. The workers get a lease to come back, so
-- that an outage costs no attempts.
local function is_in_grace(now)
  local last, grace = unpack(call('HMGET', 'tw:sweep', 'last_ms', 'grace_ms'))
  if last and now - last > gap then
    grace = now + lease
    call('HSET', 'tw:sweep', 'grace_ms', text(grace))
  end
  call('HSET', 'tw:sweep', 'last_ms', text(now))
  return grace and now < tonumber(grace)
end

local now = now_ms()
local overdue = {}
if not is_in_grace(now) then
  overdue = call('ZRANGEBYSCORE', 'tw:claims', '-inf', text(now), 'LIMIT', 0, BATCH)
end
local lost, retried, given_up = 0, 0, 0
for _, token in ipairs(overdue) do
  -- One before may have ended their job.
  if call('EXISTS', 'tw:claim:' .. token) == 1 then
    local again, over = lose_claim(token, max_attempts, 'its worker died or gave no sign of progress')
    lost, retried, given_up = lost + 1, retried + again, given_up + over
  end
end
local ended = call('ZRANGEBYSCORE', 'tw:ended', '-inf', text(now), 'LIMIT', 0, BATCH)
for _, member in ipairs(ended) do
  forget_job(string.match(member, '^(%S+) (.*)$'))
end
local unattended = call('ZRANGEBYSCORE', 'tw:attended', '-inf', text(now), 'LIMIT', 0, BATCH)
for _, id in ipairs(unattended) do
  if is_audit(id) and call('HGET', job_key(id), 'claimable') == '0' then
    call('ZADD', 'tw:attended', text(now + RUNNING_MS), id)
  else
    if is_audit(id) then
      call('HINCRBY', 'tw:totals', 'audits:unchecked', 1)
    end
    remove_job(id)
  end
end
local most = math.max(#overdue, #ended, #unattended)
return {lost, retried, given_up, #ended + #unattended, most == BATCH and 1 or 0}
