#!lua flags=allow-oom
-- Removes a job in any state; nothing of it is left but what the totals have counted.
-- ARGV: job id.
remove_job(ARGV[1])
