#!lua flags=allow-oom
-- Forgets cached results that are damaged, and counts them.
-- ARGV: keys.
for _, key in ipairs(ARGV) do
  call('HINCRBY', 'tw:totals', 'cache_damaged', forget_result(key))
end
