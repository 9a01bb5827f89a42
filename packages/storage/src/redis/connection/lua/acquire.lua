-- Acquires a lease; returns nothing while another holder has it.
-- KEYS: the lease
-- ARGV: holder, ms to hold the lease, ms to remember the lease after that
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('HMGET', KEYS[1], 'holder', 'token', 'until')
local held = last[3] and tonumber(last[3]) > now
if held and last[1] ~= ARGV[1] then return false end
local token = tonumber(last[2] or '0')
-- The clock makes the token grow even if the last token has been forgotten, by expiry or with the whole Redis.
if not held then token = math.max(token + 1, now) end
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'token', string.format('%.0f', token),
  'until', string.format('%.0f', now + ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2] + ARGV[3])
return string.format('%.0f', token)
