-- Sets a text and publishes it, in one step, so that subscribers get texts in order, even between the nodes of a cluster.
-- KEYS: the posting, which is also the channel's name
-- ARGV: text, ms to keep the text
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('PUBLISH', KEYS[1], ARGV[1])
