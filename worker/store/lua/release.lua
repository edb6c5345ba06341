#!lua flags=allow-oom
-- Hands the unfinished units of a claim back, as if they had not been claimed.
-- ARGV: token. Returns the number of units; 0 when the claim is gone.
local token = ARGV[1]
local id, indexes = unpack(call('HMGET', 'tw:claim:' .. token, 'job', 'indexes'))
if not id then
  return 0
end
local count = 0
for index in string.gmatch(indexes, '%d+') do
  if call('HGET', job_key(id) .. ':owners', index) == token then
    call('HDEL', job_key(id) .. ':owners', index)
    if call('HINCRBY', job_key(id) .. ':attempts', index, -1) == 0 then
      call('HDEL', job_key(id) .. ':attempts', index)
    end
    call('RPUSH', job_key(id) .. ':retry', index)
    count = count + 1
  end
end
close_claim(token)
add_claimable(id, count)
return count
