-- Drops projected events, except the newest ones.
-- KEYS: the run's events
-- ARGV: the seq up to which the run is projected, how many events to keep (at least one)
-- All ids of Liminal begin with 0: the range leaves out entries that another program has added.
local newest = redis.call('XREVRANGE', KEYS[1], '0', '-', 'COUNT', 1)[1]
if not newest then return 0 end
local last = tonumber(string.sub(newest[1], 3)) - 1
local upTo = math.min(tonumber(ARGV[1]), last - tonumber(ARGV[2]))
if upTo < 0 then return 0 end
return redis.call('XTRIM', KEYS[1], 'MINID', '~', '0-' .. string.format('%d', upTo + 2))
