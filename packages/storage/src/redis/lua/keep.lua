-- Says that a worker still works on what it has claimed. What another has taken over meanwhile stays the other's.
-- KEYS: the announced runs
-- ARGV: group, worker
local claimed = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000000, ARGV[2])
for _, claim in ipairs(claimed) do
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, claim[1], 'JUSTID')
end
return #claimed
