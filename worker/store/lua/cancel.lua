#!lua flags=allow-oom
-- Cancels a job in any state; one that has ended is left as it is.
-- ARGV: job id. Returns 1, or 0 when there is no such job.
local id = ARGV[1]
local state = call('HGET', job_key(id), 'state')
if not state then
  return 0
end
if is_open(state) then
  end_job(id, 'CANCELLED')
  call('PUBLISH', 'tw:events', id)
end
return 1
