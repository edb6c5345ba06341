#!lua flags=allow-oom
-- Lets a paused job go on, at its old place; one in another state is left as it is.
-- ARGV: job id.
local id = ARGV[1]
local state, started = unpack(job_fields(id, 'state', 'started_ms'))
if state == 'PAUSED' then
  move_job(id, started and 'RUNNING' or 'QUEUED')
end
