-- Closes a run whose final Response is stored; it expires once its followers have had time to get the rest.
-- KEYS: the run's events, the run
-- ARGV: ms to keep it
local run = redis.call('HMGET', KEYS[2], 'constants', 'ended', 'settled')
if not run[1] or run[3] then return 0 end
redis.call('HSET', KEYS[2], 'settled', '1')
-- Tells readers that no terminal event will come, and occupies the id that its writer would use next.
if not run[2] then
  -- All ids of ours begin with 0: the range leaves out entries that another program has added.
  local newest = redis.call('XREVRANGE', KEYS[1], '0', '-', 'COUNT', 1)[1]
  local next = newest and tonumber(string.sub(newest[1], 3)) + 1 or 1
  -- Redis refuses the mark behind an entry of another program, which the run's writer cannot follow either.
  redis.pcall('XADD', KEYS[1], '0-' .. string.format('%d', next), 'settled', '1')
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return 1
