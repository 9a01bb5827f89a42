-- Renews all claims of a worker, and returns them. Claims that another worker has taken over do not change.
-- KEYS: the announced runs
-- ARGV: group, worker
local claimed = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000000, ARGV[2])
local entries = {}
for _, claim in ipairs(claimed) do
  local kept = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, claim[1])[1]
  -- Redis 6 returns nothing for a deleted entry.
  if kept then entries[#entries + 1] = kept end
end
return entries
