-- Counts a stream as open under an API key, if the key allows another.
-- ARGV: key's id, stream, ms that it counts without being renewed. Returns 1, or 0.
local api_key, stream, ms = unpack(ARGV)
local streams, now = api_key_key(api_key) .. ':streams', now_ms()
local most = tonumber(call('HGET', api_key_key(api_key), 'max_streams') or 0)
call('ZREMRANGEBYSCORE', streams, '-inf', text(now))
if most > 0 and call('ZCARD', streams) >= most then
  return 0
end
call('ZADD', streams, text(now + ms), stream)
call('PEXPIRE', streams, ms)
return 1
