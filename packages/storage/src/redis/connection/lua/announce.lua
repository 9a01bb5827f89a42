-- Adds a run to the registry, once.
-- KEYS: the announced runs, run -> entry
-- ARGV: run id, session id
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
local entry = redis.call('XADD', KEYS[1], '*', 'runId', ARGV[1], 'sessionId', ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], entry)
return 1
