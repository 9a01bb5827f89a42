-- end-task
-- Withdraws a task, and forgets what was said of it.
-- KEYS: the tasks, what each side has said
-- ARGV: task
redis.call('XDEL', KEYS[1], ARGV[1])
return redis.call('DEL', KEYS[2], KEYS[3])
