-- What the scripts share. It stands before each of them.
-- A job `id` has the keys tw:job:<id> (hash) and tw:job:<id>:<part>; docs/redis.md lists them all.

local CLASSES = {'INTERACTIVE', 'BULK', 'BACKGROUND'} -- the most urgent first
local PARTS = {':units', ':rows', ':order', ':retry', ':tried', ':counted', ':owners'}
local FAILED_US = 1000000 -- of workers' time that an attempt counts for that failed
local ELSEWHERE_MS = 10000 -- how long a unit that failed is left to workers that have not tried it
local RESULT_BYTES = 200 -- of memory that a cached result takes besides its value
local AUDITS = 'audits' -- the client of audits; the names of others begin with key:, name: or peer:
local call = redis.call

-- Milliseconds of the server's clock: no other clock is ever compared with it.
local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A number as text without an exponent.
local function text(number)
  return string.format('%.0f', number)
end

local function next_number()
  return call('INCR', 'tw:counter')
end

local function job_key(id)
  return 'tw:job:' .. id
end

local function queue_key(class, client)
  return 'tw:queue:' .. class .. ':' .. client
end

local function job_fields(id, ...)
  return call('HMGET', job_key(id), ...)
end

-- Whether a job in this state may still change.
local function is_open(state)
  return state == 'QUEUED' or state == 'RUNNING' or state == 'PAUSED'
end

-- Whether a job finds a result again that a worker found before.
local function is_audit(id)
  return call('HEXISTS', job_key(id), 'audited') == 1
end

-- Raises a count of all jobs; of audits, for which no client has asked, there are counts apart.
local function count(id, field, number)
  call('HINCRBY', 'tw:totals', (is_audit(id) and 'audit:' or '') .. field, number)
end

local function set_state(id, state)
  local kind, old = unpack(job_fields(id, 'kind', 'state'))
  if is_open(old) then
    count(id, 'jobs:' .. kind .. ':' .. old, -1)
  end
  count(id, 'jobs:' .. kind .. ':' .. state, 1)
  call('HSET', job_key(id), 'state', state)
end

-- Changes the number of claimable units, and lets the job wait in its client's queue exactly while
-- it has some and is not paused. The queue is by order of submission, so that a job that returns has
-- its old place; a client that returns waits for its turn behind the others.
local function add_claimable(id, count)
  local class, client, submission, state =
    unpack(job_fields(id, 'class', 'client', 'submission', 'state'))
  local queue, turns = queue_key(class, client), 'tw:turns:' .. class
  local is_paused = state == 'PAUSED'
  local claimable = call('HINCRBY', job_key(id), 'claimable', count)
  call('HINCRBY', 'tw:load', (is_paused and 'paused:' or 'claimable:') .. class, count)
  if claimable > 0 and not is_paused then
    call('ZADD', queue, submission, id)
    call('ZADD', turns, 'NX', next_number(), client)
  else
    call('ZREM', queue, id)
    if call('EXISTS', queue) == 0 then
      call('ZREM', turns, client)
    end
  end
end

-- Moves a job that has not ended, with its claimable units, from one state to another.
local function move_job(id, state)
  local claimable = call('HGET', job_key(id), 'claimable')
  add_claimable(id, -claimable)
  set_state(id, state)
  add_claimable(id, claimable)
  call('PUBLISH', 'tw:events', id)
end

-- Whether a claim on a job is still held. A store that was emptied gives tokens out again, so a token
-- alone may be another's.
local function holds(token, id)
  return call('HGET', 'tw:claim:' .. token, 'job') == id
end

-- Counts time that workers gave to a class against the less urgent ones that wait meanwhile.
local function count_time(class, us)
  local is_less_urgent = false
  for _, other in ipairs(CLASSES) do
    if is_less_urgent and call('EXISTS', 'tw:turns:' .. other) == 1 then
      call('HINCRBY', 'tw:load', 'passed_us:' .. other, text(us))
    end
    is_less_urgent = is_less_urgent or other == class
  end
end

local function close_claim(token)
  local class, left = unpack(call('HMGET', 'tw:claim:' .. token, 'class', 'left'))
  call('HINCRBY', 'tw:load', 'claimed:' .. class, -left)
  call('ZREM', 'tw:claims', token)
  call('DEL', 'tw:claim:' .. token)
end

-- Ends a job: it leaves the queue, its claims are void, and all its keys expire together.
local function end_job(id, state)
  for _, token in ipairs(call('ZRANGE', 'tw:claims', 0, -1)) do
    if call('HGET', 'tw:claim:' .. token, 'job') == id then
      close_claim(token)
    end
  end
  local client, request, keep, claimable =
    unpack(job_fields(id, 'client', 'request_key', 'keep_ms', 'claimable'))
  add_claimable(id, -claimable)
  set_state(id, state)
  local now = now_ms()
  local expires = text(now + keep)
  call('HSET', job_key(id), 'ended_ms', text(now), 'expires_ms', expires)
  call('DEL', job_key(id) .. ':retry', job_key(id) .. ':tried', job_key(id) .. ':counted',
    job_key(id) .. ':owners')
  call('PEXPIREAT', job_key(id), expires)
  for _, part in ipairs(PARTS) do
    call('PEXPIREAT', job_key(id) .. part, expires)
  end
  if request ~= '' then
    call('PEXPIREAT', request, expires)
  end
  call('ZADD', 'tw:ended', expires, id .. ' ' .. client)
end

-- Forgets a job that does not run: every key of it, and its places in the lists.
local function forget_job(id, client)
  call('ZREM', 'tw:jobs:' .. client, id)
  call('ZREM', 'tw:ended', id .. ' ' .. client)
  call('ZREM', 'tw:attended', id)
  call('UNLINK', job_key(id))
  for _, part in ipairs(PARTS) do
    call('UNLINK', job_key(id) .. part)
  end
end

-- Forgets a job in any state, also one that is only staged; cancels it first if it runs.
local function remove_job(id)
  local state, client, request = unpack(job_fields(id, 'state', 'client', 'request_key'))
  if is_open(state) then
    end_job(id, 'CANCELLED')
  end
  forget_job(id, client or '')
  if request and request ~= '' then
    call('UNLINK', request)
  end
  call('PUBLISH', 'tw:events', id)
end

-- Ends the job when every unit has its row, or one was given up that it cannot do without; and tells
-- those who watch it.
local function settle(id)
  local total, done, rejected, quarantined, needs_all =
    unpack(job_fields(id, 'total', 'done', 'rejected', 'quarantined', 'needs_all'))
  if needs_all == '1' and tonumber(quarantined) > 0 then
    call('HSET', job_key(id), 'error', 'a part of it was given up, so there is no total')
    end_job(id, 'FAILED')
  elseif done + rejected + quarantined == tonumber(total) then
    end_job(id, 'SUCCEEDED')
    if is_audit(id) then
      call('ZREM', 'tw:attended', id)
      call('RPUSH', 'tw:audits', id)
    end
  end
  call('PUBLISH', 'tw:events', id)
end

-- Writes a new job's hash, with more fields and values after the common ones; nothing waits yet.
-- `cached` of the rows it has are results, the others rejections. Returns its place in the order of
-- all submissions.
local function create_job(id, class, client, total, cached, request, ...)
  local submission, rows = text(next_number()), call('HLEN', job_key(id) .. ':rows')
  call('HSET', job_key(id), 'class', class, 'client', client, 'total', text(total),
    'rejected', text(rows - cached), 'submission', submission, 'request_key', request,
    'created_ms', text(now_ms()), 'next', 0, 'claimable', 0, 'done', cached, 'cached', cached,
    'quarantined', 0, 'nodes', 0, 'search_us', 0, 'attempts', 0, ...)
  return submission
end

-- Lets a job that was created wait for workers; one with nothing to do ends at once.
local function open_job(id)
  local total, rejected, cached = unpack(job_fields(id, 'total', 'rejected', 'cached'))
  count(id, 'rejected', rejected)
  count(id, 'cached', cached)
  set_state(id, 'QUEUED')
  add_claimable(id, total - rejected - cached)
  settle(id)
end

-- The names of the workers whose attempts at a unit failed, as they came.
local function tried_by(id, index)
  local names = {}
  for name in string.gmatch(call('HGET', job_key(id) .. ':tried', index) or '', '%S+') do
    table.insert(names, name)
  end
  return names
end

-- Forgets a cached result. Returns 1, or 0 when there is none.
local function forget_result(key)
  local size = call('HSTRLEN', 'tw:cache', key)
  call('ZREM', 'tw:cache:expiry', key)
  local count = call('HDEL', 'tw:cache', key)
  if count == 1 then
    call('DECRBY', 'tw:cache:bytes', size + RESULT_BYTES)
  end
  return count
end

-- What workers counted of a unit that needs agreement, as it came: pairs of a worker and an amount.
local function counts_of(id, index)
  local counts = {}
  local stored = call('HGET', job_key(id) .. ':counted', index) or ''
  for name, amount in string.gmatch(stored, '(%S+) (%S+)\n') do
    table.insert(counts, {name, amount})
  end
  return counts
end

-- The names of workers that are there; at most `most`.
local function workers_there(most)
  return call('ZRANGEBYSCORE', 'tw:workers', '(' .. text(now_ms()), '+inf', 'LIMIT', 0, most)
end

-- Gives a unit up that nobody holds any more.
local function give_up(id, index, names, cause)
  call('HDEL', job_key(id) .. ':tried', index)
  call('HDEL', job_key(id) .. ':counted', index)
  call('HSET', job_key(id) .. ':rows', index, 'Q' .. table.concat(names, ' ') .. '\n' .. cause)
  call('RPUSH', job_key(id) .. ':order', index)
  call('HINCRBY', job_key(id), 'quarantined', 1)
  count(id, 'quarantined', 1)
end

-- Ends a failed attempt at a unit that nobody holds any more: it waits to be tried alone, or after
-- `max_attempts` is given up. Returns whether it waits.
local function fail_unit(id, index, worker, max_attempts, cause)
  count_time(call('HGET', job_key(id), 'class'), FAILED_US)
  local names = tried_by(id, index)
  table.insert(names, worker)
  if #names < max_attempts then
    call('HSET', job_key(id) .. ':tried', index, table.concat(names, ' '))
    call('ZADD', job_key(id) .. ':retry', text(now_ms() + ELSEWHERE_MS), index)
    return true
  end
  give_up(id, index, names, cause)
  return false
end

-- Takes its unfinished units from a claim that is not finished by its worker, as failed attempts.
-- Returns how many wait to be tried again and how many are given up.
local function lose_claim(token, max_attempts, cause)
  local id, worker, indexes =
    unpack(call('HMGET', 'tw:claim:' .. token, 'job', 'worker', 'indexes'))
  local retried, given_up = 0, 0
  for index in string.gmatch(indexes, '%d+') do
    if call('HGET', job_key(id) .. ':owners', index) == token then
      call('HDEL', job_key(id) .. ':owners', index)
      call('HINCRBY', job_key(id), 'attempts', 1)
      count(id, 'attempts', 1)
      if fail_unit(id, index, worker, max_attempts, cause) then
        retried = retried + 1
      else
        given_up = given_up + 1
      end
    end
  end
  close_claim(token)
  count(id, 'lost_claims', 1)
  add_claimable(id, retried)
  settle(id)
  return retried, given_up
end

local DAY_MS = 86400000

local function api_key_key(api_key)
  return 'tw:api_key:' .. api_key
end

-- The key of what is done under an API key today, and the end of the day in ms; days are UTC's.
local function usage_key(api_key)
  local day = math.floor(now_ms() / DAY_MS)
  return api_key_key(api_key) .. ':day:' .. text(day), (day + 1) * DAY_MS
end

local function read_usage(api_key)
  local jobs, positions, nodes =
    unpack(call('HMGET', usage_key(api_key), 'jobs', 'positions', 'nodes'))
  return {jobs = tonumber(jobs or 0), positions = tonumber(positions or 0), nodes = tonumber(nodes or 0)}
end

-- Counts what is done under an API key today.
local function count_usage(api_key, field, count)
  local usage, ends = usage_key(api_key)
  call('HINCRBY', usage, field, text(count))
  call('PEXPIREAT', usage, text(ends))
end

-- Counts new jobs, and so many positions, against the quotas of the API key under which they came; ''
-- is no key. Returns nothing if they allow it, else the answer of the script, with nothing counted:
-- {'revoked'}, or {'quota', its name, what it allows, ms until the day ends}. Nodes are counted when
-- they have been searched, so they refuse only what comes after.
local function charge(api_key, jobs, positions)
  if api_key == '' then
    return
  end
  if call('EXISTS', api_key_key(api_key)) == 0 then
    return {'revoked'}
  end
  local used = read_usage(api_key)
  local wanted = {jobs = jobs, positions = tonumber(positions), nodes = 1}
  for _, name in ipairs({'jobs', 'positions', 'nodes'}) do
    local most = tonumber(call('HGET', api_key_key(api_key), 'max_' .. name))
    if most > 0 and used[name] + wanted[name] > most then
      local _, ends = usage_key(api_key)
      return {'quota', name, text(most), text(ends - now_ms())}
    end
  end
  count_usage(api_key, 'jobs', jobs)
  count_usage(api_key, 'positions', positions)
end
