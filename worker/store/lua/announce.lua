#!lua flags=allow-oom
-- Says that a worker host is there, for some time.
-- ARGV: name, description, time to live in ms.
local name, description, ttl = ARGV[1], ARGV[2], ARGV[3]
local now = now_ms()
call('SET', 'tw:worker:' .. name, description, 'PX', ttl)
call('ZREMRANGEBYSCORE', 'tw:workers', '-inf', text(now))
call('ZADD', 'tw:workers', text(now + ttl), name)
call('PEXPIRE', 'tw:workers', ttl)
