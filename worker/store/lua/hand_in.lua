#!lua flags=allow-oom
-- Accepts rows of a claim, counting them in the same step, and renews the claim.
-- ARGV: token, job id, lease in ms, max attempts, then for each unit: index, 'R' and its row or 'F'
-- and the cause of its failure, nodes, microseconds. With no unit it is a renewal alone.
-- Returns {number accepted, state of the claim}.
local token, id, lease, max_attempts = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key, claim = job_key(id), 'tw:claim:' .. token

local RECENT = 8 -- hand-ins that make most of a mean

-- Keeps the mean time of a class's units, in which those of the last hand-ins weigh most.
local function note_mean(class, us)
  local field = 'unit_us:' .. class
  local mean = call('HGET', 'tw:load', field) or us
  call('HSET', 'tw:load', field, text(mean + (us - mean) / RECENT))
end

if not holds(token, id) then
  return {0, call('HGET', key, 'state') == 'CANCELLED' and 'cancelled' or 'lost'}
end
local class, worker = unpack(call('HMGET', claim, 'class', 'worker'))
local accepted, done, retried, nodes, search_us = 0, 0, 0, 0, 0
for place = 5, #ARGV, 5 do
  local index, kind, payload = ARGV[place], ARGV[place + 1], ARGV[place + 2]
  if call('HGET', key .. ':owners', index) == token then
    call('HDEL', key .. ':owners', index)
    accepted = accepted + 1
    if kind == 'R' then
      call('HSET', key .. ':rows', index, 'R' .. payload)
      call('RPUSH', key .. ':order', index)
      call('HDEL', key .. ':tried', index)
      done = done + 1
      nodes = nodes + ARGV[place + 3]
      search_us = search_us + ARGV[place + 4]
    elseif fail_unit(id, index, worker, max_attempts, payload) then
      retried = retried + 1
    end
  end
end
if accepted > 0 then
  for field, number in pairs({nodes = nodes, search_us = search_us, attempts = accepted}) do
    call('HINCRBY', key, field, text(number))
    count(id, field, text(number))
  end
  local api_key = call('HGET', key, 'api_key')
  if api_key and api_key ~= '' then
    count_usage(api_key, 'nodes', nodes)
  end
  count_time(class, search_us)
  if done > 0 then
    note_mean(class, search_us / done)
  end
  call('HINCRBY', key, 'done', done)
  count(id, 'positions', done)
  call('HINCRBY', 'tw:load', 'claimed:' .. class, -accepted)
end
local left = call('HINCRBY', claim, 'left', -accepted)
if left == 0 then
  close_claim(token)
else
  call('ZADD', 'tw:claims', text(now_ms() + lease), token)
end
if accepted > 0 then
  if retried > 0 then
    add_claimable(id, retried)
  end
  settle(id)
end
return {accepted, left == 0 and 'closed' or 'current'}
