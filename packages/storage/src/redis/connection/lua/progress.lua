-- A run's progress: its constants, last seq, and whether it has ended and is settled.
-- KEYS: the run's events, the run
local run = redis.call('HMGET', KEYS[2], 'constants', 'ended', 'settled')
if not run[1] then return false end
-- All ids of Liminal begin with 0: the range leaves out entries that another program has added.
local newest = redis.call('XREVRANGE', KEYS[1], '0', '-', 'COUNT', 1)[1]
local last = newest and tonumber(string.sub(newest[1], 3)) - 1 or -1
return { run[1], last, run[2] or '', run[3] or '' }
