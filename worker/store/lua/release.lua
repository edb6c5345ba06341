#!lua flags=allow-oom
-- Hands the unfinished units of a claim back, as if they had not been claimed.
-- ARGV: token, job id. Returns the number of units; 0 when the claim is gone.
local token, id = ARGV[1], ARGV[2]
if not holds(token, id) then
  return 0
end
local count = 0
for index in string.gmatch(call('HGET', 'tw:claim:' .. token, 'indexes'), '%d+') do
  if call('HGET', job_key(id) .. ':owners', index) == token then
    call('HDEL', job_key(id) .. ':owners', index)
    call('ZADD', job_key(id) .. ':retry', text(now_ms()), index)
    count = count + 1
  end
end
close_claim(token)
add_claimable(id, count)
return count
