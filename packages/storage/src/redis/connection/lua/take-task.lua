-- take-task
-- Gives a worker a task and removes the task from the waiting ones: no other worker gets it, whatever happens to this one.
-- KEYS: the tasks
-- ARGV: group, worker
local reply = redis.pcall('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'NOACK', 'STREAMS', KEYS[1], '>')
if not reply or reply.err then return reply end
local entry = reply[1][2][1]
redis.call('XDEL', KEYS[1], entry[1])
return entry
