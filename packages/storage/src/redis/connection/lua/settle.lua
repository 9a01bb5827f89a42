-- Closes a run whose final Response is stored; the run expires once its followers have had time to get the rest.
-- KEYS: the run's events, the run
-- ARGV: ms to keep the run
local run = redis.call('HMGET', KEYS[2], 'constants', 'ended', 'settled')
if not run[1] or run[3] then return 0 end
redis.call('HSET', KEYS[2], 'settled', '1')
-- Tells readers that no terminal event will follow, and occupies the id that the run's writer would use next.
if not run[2] then
  -- All ids of Liminal begin with 0: the range leaves out entries that another program has added.
  local newest = redis.call('XREVRANGE', KEYS[1], '0', '-', 'COUNT', 1)[1]
  local next = newest and tonumber(string.sub(newest[1], 3)) + 1 or 1
  -- Redis refuses the mark after an entry of another program; the run's writer cannot write after that entry either.
  redis.pcall('XADD', KEYS[1], '0-' .. string.format('%d', next), 'settled', '1')
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return 1
