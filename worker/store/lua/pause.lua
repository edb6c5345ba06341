#!lua flags=allow-oom
-- Holds a job back: what is claimed of it goes on, nothing more is claimed. One that is paused or has
-- ended is left as it is.
-- ARGV: job id.
local id = ARGV[1]
local state = call('HGET', job_key(id), 'state')
if state == 'QUEUED' or state == 'RUNNING' then
  move_job(id, 'PAUSED')
end
