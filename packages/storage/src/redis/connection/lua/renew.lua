-- Extends a lease, or releases it (0 ms), unless another holder has acquired it since.
-- KEYS: the lease
-- ARGV: token, ms to hold the lease, ms to remember the lease after that
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2] + ARGV[3])
return 1
