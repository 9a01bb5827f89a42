-- Puts up a text and tells of it. In one step, so that whoever watches hears of the texts in their order, also where
-- the nodes of a cluster tell each other.
-- KEYS: the posting, which is also the channel's name
-- ARGV: text, ms to keep it
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('PUBLISH', KEYS[1], ARGV[1])
