import { KEY } from './redis-keys.js';

/**
 * Claims turns of one partition by the rule `isClaimable`. Returns the claimed turns, and whether a limit ended the
 * list.
 */
export const CLAIM = `
local node, lease_ms, limit, max_bytes, only = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local agents = tonumber(ARGV[8])
local holds = ARGV[7] == '1' and {}
for at = 9 + agents, #ARGV do
  holds[ARGV[at]] = true
end
local time = now()

-- A task whose first turn may be claimed, or nil.
local function candidate(name, agent)
  local task = base .. '${KEY.task}' .. name
  local known = call('HMGET', task, 'h', 'n')
  local head = known[1] and parse(known[1])
  local turn = head and first_turn(head)
  if not turn then
    return nil
  end
  if head.held > 0 then
    if head.lease > time then
      return nil
    end
    if known[2] == node then
      if not holds or holds[num(head.epoch) .. ' ' .. turn .. ' ' .. name] then
        return nil
      end
    end
  end
  local counts = call('HGET', task, 'n' .. turn)
  local attempts, hand_overs, place = string.match(counts, '^(%S+) (%S+) (%S+)$')
  return { name = name, agent = agent, task = task, head = head, turn = turn, attempts = attempts,
    hand_overs = hand_overs, place = tonumber(place) }
end

local found = {}
if only ~= '' then
  found[1] = candidate(only, ARGV[9])
else
  for at = 9, 8 + agents do
    local agent = ARGV[at]
    for _, name in ipairs(call('ZRANGE', base .. '${KEY.ready}' .. agent, 0, num(limit))) do
      found[#found + 1] = candidate(name, agent)
    end
    local lease = base .. '${KEY.lease}' .. agent
    local from, free = 0, 0
    repeat
      local ended = call('ZRANGEBYSCORE', lease, '-inf', num(time), 'LIMIT', num(from), 100)
      for _, name in ipairs(ended) do
        local one = candidate(name, agent)
        if one then
          found[#found + 1] = one
          free = free + 1
        end
      end
      from = from + 100
    until #ended < 100 or free > limit or from >= 1000
  end
  table.sort(found, function(a, b)
    return a.place < b.place
  end)
end

local claims, bytes, more = {}, 0, 0
for _, one in ipairs(found) do
  local head = one.head
  bytes = bytes + head.bytes
  if #claims >= limit or (#claims > 0 and bytes > max_bytes) then
    more = 1
    break
  end
  local before = settled(head)
  head.epoch = head.epoch + 1
  head.held = tonumber(one.turn)
  head.lease = time + lease_ms
  call('HSET', one.task, 'h', text_of(head), 'n', node)
  settle(one.task, one.name, one.agent, head, before)
  local turn = one.turn
  claims[#claims + 1] = { one.name, one.attempts, one.hand_overs,
    call('HMGET', one.task, 'm' .. turn, 'c' .. turn, 'k' .. turn, 'x' .. turn),
    content(one.task, base .. '${KEY.log}' .. one.name, head) }
end
return { claims, more }
`;

/** Counts the waiting turns of some agents in a partition, and those with an expired lease. */
export const PEEK = `
local time = num(now())
local count = 0
for at = 2, #ARGV do
  count = count + call('ZCARD', base .. '${KEY.ready}' .. ARGV[at])
    + call('ZCOUNT', base .. '${KEY.lease}' .. ARGV[at], '-inf', time)
end
return { count }
`;

/**
 * Excludes a claimed turn that cannot be read from further claims. Its holder releases it. The head must be unchanged
 * since the claim. ARGV: NAME, AGENT, and the head.
 */
export const SET_ASIDE = `
local task, name, agent = KEYS[1], ARGV[2], ARGV[3]
if call('HGET', task, 'h') ~= ARGV[4] then
  return 0
end
local head = parse(ARGV[4])
local before = settled(head)
head.held = 0
head.lease = 0
call('HSET', task, 'h', text_of(head))
settle(task, name, agent, head, before)
call('ZREM', base .. '${KEY.ready}' .. agent, name)
return 1
`;
