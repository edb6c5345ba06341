#!lua flags=allow-oom
-- Accepts rows of a claim, counting them in the same step, and renews the claim.
-- ARGV: token, job id, lease in ms, max attempts, then for each unit: index, 'R' and its row or 'F'
-- and the cause of its failure, nodes, microseconds. With no unit it is a renewal alone. Instead of
-- 'R', with an amount and a line feed before the row: 'A', the amount is added to the job's sum, or
-- 'C', likewise once another worker has come to the same amount.
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

local AGREE_MS = 1000000000 -- how long a unit that was counted is left to others: while any are there
local MAX_COUNTS = 6 -- of a unit that workers do not agree on

-- The sum of two decimal numbers of any size.
local function add_decimals(a, b)
  local parts, carry = {}, 0
  while a ~= '' or b ~= '' or carry > 0 do
    local sum = carry + (tonumber(string.sub(a, -15)) or 0) + (tonumber(string.sub(b, -15)) or 0)
    carry = sum >= 1e15 and 1 or 0
    table.insert(parts, 1, string.format('%015.0f', sum - carry * 1e15))
    a, b = string.sub(a, 1, -16), string.sub(b, 1, -16)
  end
  local digits = string.gsub(table.concat(parts), '^0+', '')
  return digits == '' and '0' or digits
end

local function is_another_there(worker)
  for _, name in ipairs(workers_there(2)) do
    if name ~= worker then
      return true
    end
  end
  return false
end

-- Whether a worker's amount agrees with one before: another's, or where no other worker is there and
-- nobody disagrees, its own.
local function is_agreed(counts, worker, amount)
  local is_disputed, is_own = false, false
  for _, count in ipairs(counts) do
    if count[2] ~= amount then
      is_disputed = true
    elseif count[1] ~= worker then
      return true
    else
      is_own = true
    end
  end
  return is_own and not is_disputed and not is_another_there(worker)
end

local function write_row(index, row)
  call('HSET', key .. ':rows', index, row)
  call('RPUSH', key .. ':order', index)
  call('HDEL', key .. ':tried', index)
  call('HDEL', key .. ':counted', index)
end

local function add_to_sum(amount)
  call('HSET', key, 'sum', add_decimals(call('HGET', key, 'sum') or '', amount))
end

-- Takes an amount that needs agreement. Returns 1 if the unit has its row, and 1 if it waits.
local function take_count(index, worker, amount, row)
  local counts = counts_of(id, index)
  local agreed = is_agreed(counts, worker, amount)
  table.insert(counts, {worker, amount})
  local stored, names = '', {}
  for place, count in ipairs(counts) do
    stored, names[place] = stored .. count[1] .. ' ' .. count[2] .. '\n', count[1]
  end
  if agreed then
    add_to_sum(amount)
    write_row(index, 'V' .. stored .. '\n' .. row)
    return 1, 0
  end
  if #counts == MAX_COUNTS then
    give_up(id, index, names, 'no two workers agree: ' .. string.gsub(stored, '\n', '; '))
    return 0, 0
  end
  call('HSET', key .. ':counted', index, stored)
  call('ZADD', key .. ':retry', text(now_ms() + AGREE_MS), index)
  return 0, 1
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
    if kind ~= 'F' then
      nodes = nodes + ARGV[place + 3]
      search_us = search_us + ARGV[place + 4]
    end
    if kind == 'R' then
      write_row(index, 'R' .. payload)
      done = done + 1
    elseif kind == 'A' then
      local amount, row = string.match(payload, '^(%d+)\n(.*)$')
      add_to_sum(amount)
      write_row(index, 'R' .. row)
      done = done + 1
    elseif kind == 'C' then
      local amount, row = string.match(payload, '^(%d+)\n(.*)$')
      local is_done, waits = take_count(index, worker, amount, row)
      done, retried = done + is_done, retried + waits
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
