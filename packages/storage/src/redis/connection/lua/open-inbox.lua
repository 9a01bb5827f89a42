-- Opens an inbox; returns the id of the last message to its previous opener.
-- KEYS: the inbox, its opener
-- ARGV: opener, ms that the inbox counts as open
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return last and last[1] or '0-0'
