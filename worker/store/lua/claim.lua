#!lua flags=allow-oom
-- Gives a worker the next units: of the most urgent class, of the client whose turn it is, of its
-- oldest job.
-- ARGV: worker, lease in ms, microseconds of work wanted, most units.
-- Returns nothing, or {token, job id, kind, spec, {index...}, {unit...}, {attempt...}, 1 if somebody
-- attends the job}.
local worker, lease, wanted_us, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local function next_job()
  for _, class in ipairs(CLASSES) do
    local client = call('ZRANGE', 'tw:turns:' .. class, 0, 0)[1]
    if client then
      call('ZADD', 'tw:turns:' .. class, next_number(), client)
      return call('ZRANGE', queue_key(class, client), 0, 0)[1], class
    end
  end
end

-- How many units are about the time wanted: one while nothing is known, and never more than half a
-- fair part of what waits, so that the last units are shared by all.
local function range_size(id)
  local claimable, done, search_us = unpack(job_fields(id, 'claimable', 'done', 'search_us'))
  local size = 1
  if tonumber(done) > 0 then
    size = math.min(most, math.floor(wanted_us * done / math.max(search_us, 1)))
  end
  local fair = math.ceil(claimable / (2 * (call('ZCARD', 'tw:claims') + 1)))
  return math.max(1, math.min(size, fair))
end

-- Untried units in order, passing over those rejected at the door; the span is bounded by what one
-- answer should carry.
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

local id, class = next_job()
if not id then
  return false
end
local alone = call('LPOP', job_key(id) .. ':retry')
local indexes = alone and {tonumber(alone)} or take_range(id)

local token = text(next_number())
local first = indexes[1]
local span = call('LRANGE', job_key(id) .. ':units', first, indexes[#indexes])
local units, attempts = {}, {}
for place, index in ipairs(indexes) do
  units[place] = span[index - first + 1]
  attempts[place] = call('HINCRBY', job_key(id) .. ':attempts', index, 1)
  call('HSET', job_key(id) .. ':owners', index, token)
end
call('HSET', 'tw:claim:' .. token, 'job', id, 'class', class, 'worker', worker,
  'indexes', table.concat(indexes, ','), 'left', #indexes)
call('ZADD', 'tw:claims', text(now_ms() + lease), token)
call('HINCRBY', 'tw:load', 'claimed:' .. class, #indexes)

local kind, spec, state, attended = unpack(job_fields(id, 'kind', 'spec', 'state', 'attended'))
if state == 'QUEUED' then
  set_state(id, 'RUNNING')
  call('HSET', job_key(id), 'started_ms', text(now_ms()))
  call('PUBLISH', 'tw:events', id)
end
add_claimable(id, -#indexes)
return {token, id, kind, spec, indexes, units, attempts, attended}
