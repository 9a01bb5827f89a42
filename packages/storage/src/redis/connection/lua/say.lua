-- say
-- Adds what one side says of a task.
-- KEYS: what it has said
-- ARGV: message, how many to keep, ms to keep them
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'message', ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
