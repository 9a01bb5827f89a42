-- Adds events to a run, all or none.
-- KEYS: the run's events, the run
-- ARGV: first seq, constants, '1' if the last event is terminal, '1' if an earlier try may have come through,
--       then timestamp, type and payload of each event
local first = tonumber(ARGV[1])
local count = (#ARGV - 4) / 3
local run = redis.call('HMGET', KEYS[2], 'constants', 'ended', 'settled')
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last = newest and tonumber(string.sub(newest[1], 3)) - 1 or -1
local have = 0

-- The id of a seq: '0-0' is not allowed, so the first is '0-1'.
local function id(seq)
  return '0-' .. string.format('%d', seq + 1)
end

if ARGV[4] == '1' and last >= first then
  local stored = redis.call('XRANGE', KEYS[1], id(first), '+', 'COUNT', count)
  for i, entry in ipairs(stored) do
    local at = 2 + 3 * i
    local fields = entry[2]
    local same = entry[1] == id(first + i - 1) and fields[2] == ARGV[at + 1]
      and fields[4] == ARGV[at] and fields[6] == ARGV[at + 2]
    if not same then return { 'SEQ_CONFLICT', last } end
  end
  have = #stored
  if have == count then return { 'OK', last } end
end

if run[2] or run[3] then return { 'RUN_ENDED', last } end
if first + have ~= last + 1 then return { 'SEQ_CONFLICT', last } end
if run[1] and run[1] ~= ARGV[2] then return { 'ENVELOPE_MISMATCH', last } end

for i = have + 1, count do
  local at = 2 + 3 * i
  local seq = first + i - 1
  if seq == 0 then
    redis.call('XADD', KEYS[1], id(seq), 'type', ARGV[at + 1], 'timestamp', ARGV[at],
      'payload', ARGV[at + 2], 'run', ARGV[2])
  else
    redis.call('XADD', KEYS[1], id(seq), 'type', ARGV[at + 1], 'timestamp', ARGV[at],
      'payload', ARGV[at + 2])
  end
end
if not run[1] then redis.call('HSET', KEYS[2], 'constants', ARGV[2]) end
if ARGV[3] == '1' then redis.call('HSET', KEYS[2], 'ended', '1') end
return { 'OK', first + count - 1 }
