-- Drops what is projected, less the newest events.
-- KEYS: the run's events, the run
-- ARGV: the seq up to which the run is projected, how many events to keep
local last = tonumber(redis.call('HGET', KEYS[2], 'lastSeq') or '-1')
local upTo = math.min(tonumber(ARGV[1]), last - tonumber(ARGV[2]))
if upTo < 0 then return 0 end
return redis.call('XTRIM', KEYS[1], 'MINID', '~', '0-' .. string.format('%d', upTo + 2))
