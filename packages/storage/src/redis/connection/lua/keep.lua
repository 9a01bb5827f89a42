-- Says that a worker still works on what it has claimed, and gives all of that. What another has taken over meanwhile
-- stays the other's.
-- KEYS: the announced runs
-- ARGV: group, worker
local claimed = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000000, ARGV[2])
local entries = {}
for _, claim in ipairs(claimed) do
  local kept = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, claim[1])[1]
  -- Redis 6 gives nothing for an entry that has been deleted.
  if kept then entries[#entries + 1] = kept end
end
return entries
