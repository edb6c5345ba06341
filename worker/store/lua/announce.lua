#!lua flags=allow-oom
-- Says that a worker host or a gateway is there, for some time.
-- ARGV: 'worker' or 'gateway', name, description, time to live in ms.
local part, name, description, ttl = unpack(ARGV)
local key, list, now = 'tw:' .. part .. ':' .. name, 'tw:' .. part .. 's', now_ms()
call('SET', key, description, 'PX', ttl)
call('ZREMRANGEBYSCORE', list, '-inf', text(now))
call('ZADD', list, text(now + ttl), name)
call('PEXPIRE', list, ttl)
