-- Removes a run from the registry, even if a worker has claimed it.
-- KEYS: the announced runs, run -> entry
-- ARGV: group, run id
local entry = redis.call('HGET', KEYS[2], ARGV[2])
if not entry then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('XDEL', KEYS[1], entry)
redis.call('XACK', KEYS[1], ARGV[1], entry)
return 1
