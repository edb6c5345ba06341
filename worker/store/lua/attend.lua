#!lua flags=allow-oom
-- Lets attended jobs live for some time more.
-- ARGV: ms, job ids. Returns those that are not there.
local lives, missing = text(now_ms() + ARGV[1]), {}
for place = 2, #ARGV do
  if call('ZSCORE', 'tw:attended', ARGV[place]) then
    call('ZADD', 'tw:attended', lives, ARGV[place])
  else
    table.insert(missing, ARGV[place])
  end
end
return missing
