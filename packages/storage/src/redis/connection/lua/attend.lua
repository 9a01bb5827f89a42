-- attend
-- Marks a worker as present and creates its group, removes silent workers, and returns how many workers are left.
-- KEYS: the tasks, their workers
-- ARGV: group, worker or nothing, ms that the worker counts as present (0: it leaves), ms to keep the tasks
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[3]), ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  -- Most of the time the group exists already.
  redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))) do
  redis.call('ZREM', KEYS[2], gone)
  -- The worker has no claims. The group may be gone with all other data.
  redis.pcall('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], gone)
end
return redis.call('ZCARD', KEYS[2])
