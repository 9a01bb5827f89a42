-- Adds events to a run, all or none.
-- KEYS: the run's events, the run
-- ARGV: first seq, constants, '1' if the last event is terminal, '1' if an earlier attempt may have succeeded,
--       ids of run, session and turn, trace context, then timestamp, type and payload of each event
local first = tonumber(ARGV[1])
local count = (#ARGV - 8) / 3
local run = redis.call('HMGET', KEYS[2], 'constants', 'ended', 'settled')
-- All ids of Liminal begin with 0: the range leaves out entries that another program has added.
local newest = redis.call('XREVRANGE', KEYS[1], '0', '-', 'COUNT', 1)[1]
local last = newest and tonumber(string.sub(newest[1], 3)) - 1 or -1
local have = 0

-- The id of a seq: '0-0' is not allowed, so the first is '0-1'.
local function id(seq)
  return '0-' .. string.format('%d', seq + 1)
end

local function append(entry, ...)
  for _, value in ipairs({ ... }) do entry[#entry + 1] = value end
end

if ARGV[4] == '1' and last >= first then
  local stored = redis.call('XRANGE', KEYS[1], id(first), '+', 'COUNT', count)
  for i, entry in ipairs(stored) do
    local at = 6 + 3 * i
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
  local at = 6 + 3 * i
  local seq = first + i - 1
  local entry = { 'type', ARGV[at + 1], 'timestamp', ARGV[at], 'payload', ARGV[at + 2] }
  -- Servers of the previous version read the constants here, and only here.
  if seq == 0 then append(entry, 'run', ARGV[2]) end
  append(entry, 'eventId', ARGV[5] .. ':' .. string.format('%d', seq), 'seq', string.format('%d', seq),
    'runId', ARGV[5], 'sessionId', ARGV[6], 'turnId', ARGV[7], 'traceContext', ARGV[8])
  redis.call('XADD', KEYS[1], id(seq), unpack(entry))
end
if not run[1] then redis.call('HSET', KEYS[2], 'constants', ARGV[2]) end
if ARGV[3] == '1' then redis.call('HSET', KEYS[2], 'ended', '1') end
return { 'OK', first + count - 1 }
