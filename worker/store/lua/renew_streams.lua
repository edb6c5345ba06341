-- Lets open streams count for longer.
-- ARGV: ms that each counts without being renewed, then for each: key's id, stream.
-- Returns for each 1, or 0 when its key is revoked.
local ms, now, answers = ARGV[1], now_ms(), {}
for place = 2, #ARGV, 2 do
  local key = api_key_key(ARGV[place])
  local is_there = call('EXISTS', key)
  if is_there == 1 then
    call('ZADD', key .. ':streams', text(now + ms), ARGV[place + 1])
    call('PEXPIRE', key .. ':streams', ms)
  end
  table.insert(answers, is_there)
end
return answers
