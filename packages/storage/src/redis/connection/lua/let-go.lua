-- Announces again the runs that a worker has claimed but not done; then removes the worker.
-- KEYS: the announced runs, run -> entry
-- ARGV: group, worker
local claimed = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000000, ARGV[2])
for _, claim in ipairs(claimed) do
  local entry = claim[1]
  local kept = redis.call('XRANGE', KEYS[1], entry, entry)[1]
  redis.call('XACK', KEYS[1], ARGV[1], entry)
  redis.call('XDEL', KEYS[1], entry)
  if kept then
    local again = redis.call('XADD', KEYS[1], '*', unpack(kept[2]))
    redis.call('HSET', KEYS[2], kept[2][2], again)
  end
end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return #claimed
