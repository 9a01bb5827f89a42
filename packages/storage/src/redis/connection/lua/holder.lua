-- Returns the current holder and token of a lease.
-- KEYS: the lease
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('HMGET', KEYS[1], 'holder', 'token', 'until')
local ends = tonumber(last[3] or '')
if not ends or ends <= now then return false end
return { last[1], last[2] }
