-- say
-- Adds a message of one side about a task.
-- KEYS: the side's messages
-- ARGV: message, how many messages to keep, ms to keep them
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'message', ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
