-- Keeps an inbox open, unless another server has opened it since.
-- KEYS: the inbox, its opener
-- ARGV: opener, ms that the inbox counts as open
local opener = redis.call('GET', KEYS[2])
if opener and opener ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1
