-- Removes workers that were silent for long and have no claims.
-- KEYS: the announced runs
-- ARGV: group, ms
local buried = 0
for _, worker in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local about = {}
  for i = 1, #worker, 2 do about[worker[i]] = worker[i + 1] end
  if about.pending == 0 and about.idle > tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], about.name)
    buried = buried + 1
  end
end
return buried
