-- Adds a message to an open inbox.
-- KEYS: the inbox, its opener
-- ARGV: message, how many messages to keep, ms to keep them
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'message', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
