-- Ends the wait of a reader. In one step: a stream whose reader dies in between would stay for ever.
-- KEYS: the stream that wakes the reader
-- ARGV: ms to keep it
redis.call('XADD', KEYS[1], 'MAXLEN', 1, '*', 'wake', '')
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
