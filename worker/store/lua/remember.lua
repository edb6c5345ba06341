#!lua flags=allow-oom
-- Caches results for equal requests, in place of the oldest when there is no room.
-- ARGV: most bytes, ms to live, then keys and values. Returns how many were: none where the
-- server's memory is wanted for jobs.
local most, ttl = tonumber(ARGV[1]), tonumber(ARGV[2])

local MEMORY_SHARE = 0.6 -- of the server's memory, above which nothing more is cached
local PURGE = 100 -- entries past their time that are removed, at most

local memory = call('INFO', 'memory')
local limit = tonumber(string.match(memory, '%smaxmemory:(%d+)'))
if limit > 0 and tonumber(string.match(memory, '%sused_memory:(%d+)')) > limit * MEMORY_SHARE then
  return 0
end
local now = now_ms()
for _, key in ipairs(call('ZRANGEBYSCORE', 'tw:cache:expiry', '-inf', text(now), 'LIMIT', 0, PURGE)) do
  forget_result(key)
end
for place = 3, #ARGV, 2 do
  local key, value = ARGV[place], ARGV[place + 1]
  forget_result(key)
  call('HSET', 'tw:cache', key, value)
  call('ZADD', 'tw:cache:expiry', text(now + ttl), key)
  call('INCRBY', 'tw:cache:bytes', #value + RESULT_BYTES)
end
while tonumber(call('GET', 'tw:cache:bytes')) > most do
  forget_result(call('ZRANGE', 'tw:cache:expiry', 0, 0)[1])
end
for _, key in ipairs({'tw:cache', 'tw:cache:expiry', 'tw:cache:bytes'}) do
  call('PEXPIREAT', key, text(now + ttl))
end
return (#ARGV - 2) / 2
