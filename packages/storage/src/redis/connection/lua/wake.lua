-- Wakes a waiting reader, in one step: otherwise the stream of a reader that dies in between would stay.
-- KEYS: the stream that wakes the reader
-- ARGV: ms to keep the stream
redis.call('XADD', KEYS[1], 'MAXLEN', 1, '*', 'wake', '')
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
