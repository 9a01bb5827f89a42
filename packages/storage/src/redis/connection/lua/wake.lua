-- Wakes a waiting reader. In one step: otherwise the stream of a reader that dies in between would stay.
-- KEYS: the stream that wakes the reader
-- ARGV: ms to keep it
redis.call('XADD', KEYS[1], 'MAXLEN', 1, '*', 'wake', '')
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
