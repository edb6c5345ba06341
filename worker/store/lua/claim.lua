#!lua flags=allow-oom
-- Gives a worker the next units: of the most urgent class, of the client whose turn it is, of its
-- oldest job; passing over those that have nothing for this worker. A class that was passed over for
-- long comes first for once.
-- ARGV: worker, its engine's and its rules' version, lease in ms, microseconds of work wanted, most
-- units.
-- Returns nothing, or {token, job id, kind, spec, {index...}, {unit...}, {attempt...}, {times counted
-- before...}, 1 if somebody attends the job or '', 1 if it is an audit, the trace it
-- belongs to or ''}.
local worker, engine, rules, lease = unpack(ARGV, 1, 4)
local wanted_us, most = tonumber(ARGV[5]), tonumber(ARGV[6])

local SHARE = 20 -- one claim's time of so many is for a less urgent class that waits
local LOOKS = 16 -- units to be tried again that are looked at, at most, to find one for this worker
local now = now_ms()

-- Whether a unit has failed on this worker or was counted by it, and another is there that has not
-- had it.
local function is_for_others(id, index)
  local names, has_tried = tried_by(id, index), {}
  for _, count in ipairs(counts_of(id, index)) do
    table.insert(names, count[1])
  end
  for _, name in ipairs(names) do
    has_tried[name] = true
  end
  if not has_tried[worker] then
    return false
  end
  for _, name in ipairs(workers_there(#names + 1)) do
    if not has_tried[name] then
      return true
    end
  end
  return false
end

-- The first unit of a job that is to be tried again, by this worker.
local function next_retry(id)
  local waiting = call('ZRANGE', job_key(id) .. ':retry', 0, LOOKS - 1, 'WITHSCORES')
  for place = 1, #waiting, 2 do
    local index, left_until = waiting[place], tonumber(waiting[place + 1])
    if left_until <= now or not is_for_others(id, index) then
      return index
    end
  end
end

local function is_untried(id)
  return tonumber(call('HGET', job_key(id), 'claimable')) > call('ZCARD', job_key(id) .. ':retry')
end

-- The classes in the order in which they are looked at.
local function class_order()
  local order = {}
  for _, class in ipairs(CLASSES) do
    local passed = tonumber(call('HGET', 'tw:load', 'passed_us:' .. class) or 0)
    if passed >= (SHARE - 1) * wanted_us then
      table.insert(order, class)
    end
  end
  for _, class in ipairs(CLASSES) do
    table.insert(order, class)
  end
  return order
end

-- Whether a job is of this worker's versions, so that its results are all of one make, and does not
-- check what this worker found.
local function is_for_this_worker(id)
  local made_by, made_with, audited =
    unpack(job_fields(id, 'engine_version', 'rules_version', 'audited'))
  return made_by == engine and made_with == rules and audited ~= worker
end

-- The job to take units from, its class, and the unit to be tried again, if it is one.
local function next_job()
  for _, class in ipairs(class_order()) do
    local turns = 'tw:turns:' .. class
    for turn = 0, call('ZCARD', turns) - 1 do
      local client = call('ZRANGE', turns, turn, turn)[1]
      local queue = queue_key(class, client)
      for place = 0, call('ZCARD', queue) - 1 do
        local id = call('ZRANGE', queue, place, place)[1]
        local is_wanted = is_for_this_worker(id)
        local retry = is_wanted and next_retry(id)
        if retry or is_wanted and is_untried(id) then
          call('ZADD', turns, next_number(), client)
          call('HDEL', 'tw:load', 'passed_us:' .. class)
          return id, class, retry
        end
      end
    end
  end
end

-- How many units are about the time wanted: one while nothing is known, and never more than half a
-- fair part of what waits, so that the last units are shared by all.
local function range_size(id)
  local claimable, done, cached, search_us =
    unpack(job_fields(id, 'claimable', 'done', 'cached', 'search_us'))
  local size, searched = 1, done - cached
  if searched > 0 then
    size = math.min(most, math.floor(wanted_us * searched / math.max(search_us, 1)))
  end
  local fair = math.ceil(claimable / (2 * (call('ZCARD', 'tw:claims') + 1)))
  return math.max(1, math.min(size, fair))
end

-- Untried units in order, passing over those that had their rows at the door; the span is bounded by
-- what one answer should carry.
local function take_range(id)
  local first, total = unpack(job_fields(id, 'next', 'total'))
  first, total = tonumber(first), tonumber(total)
  local size, rows = range_size(id), job_key(id) .. ':rows'
  while call('HEXISTS', rows, first) == 1 do
    first = first + 1
  end
  local indexes, index = {}, first
  while #indexes < size and index < total and index < first + 2 * most do
    if call('HEXISTS', rows, index) == 0 then
      table.insert(indexes, index)
    end
    index = index + 1
  end
  call('HSET', job_key(id), 'next', index)
  return indexes
end

local id, class, retry = next_job()
if not id then
  return false
end
local indexes
if retry then
  call('ZREM', job_key(id) .. ':retry', retry)
  indexes = {tonumber(retry)}
else
  indexes = take_range(id)
end

local token = text(next_number())
local first = indexes[1]
local span = call('LRANGE', job_key(id) .. ':units', first, indexes[#indexes])
local units, attempts, counted = {}, {}, {}
for place, index in ipairs(indexes) do
  units[place] = span[index - first + 1]
  attempts[place] = #tried_by(id, index) + 1
  counted[place] = #counts_of(id, index)
  call('HSET', job_key(id) .. ':owners', index, token)
end
call('HSET', 'tw:claim:' .. token, 'job', id, 'class', class, 'worker', worker,
  'indexes', table.concat(indexes, ','), 'left', #indexes)
call('ZADD', 'tw:claims', text(now + lease), token)
call('HINCRBY', 'tw:load', 'claimed:' .. class, #indexes)

local kind, spec, state, attended, trace =
  unpack(job_fields(id, 'kind', 'spec', 'state', 'attended', 'trace'))
if state == 'QUEUED' then
  set_state(id, 'RUNNING')
  call('HSET', job_key(id), 'started_ms', text(now))
  call('PUBLISH', 'tw:events', id)
end
add_claimable(id, -#indexes)
return {token, id, kind, spec, indexes, units, attempts, counted, attended or '',
  is_audit(id) and 1 or 0, trace or ''}
