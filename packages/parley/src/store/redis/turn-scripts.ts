import { KEY } from './redis-keys.js';

/**
 * Claims turns of one partition. A node may claim a task as rules/turn-lease.ts says. Answers the claimed turns, and
 * whether a limit cut them short.
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

/** Counts the turns of some agents that wait in a partition, and those whose lease has ended. */
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
 * Changes a turn that its node still holds under this epoch. Answers the count of waiting turns of the task, then 1 and
 * the request to cancel it if the node holds it.
 */
export const HELD = `
local task = KEYS[1]
local name, agent, step, turn, epoch = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local known = call('HGET', task, 'h')
local head = known and parse(known)
if not head then
  return { 0, 0 }
end
if num(head.held) ~= turn or num(head.epoch) ~= epoch then
  return { waiting(head), 0 }
end
local function count(attempts, added)
  local kept, hand_overs, place = string.match(call('HGET', task, 'n' .. turn), '^(%S+) (%S+) (%S+)$')
  call('HSET', task, 'n' .. turn, attempts .. ' ' .. num(tonumber(hand_overs) + added) .. ' ' .. place)
end
if step == 'renew' then
  head.lease = now() + tonumber(ARGV[7])
  call('HSET', task, 'h', text_of(head))
  call('ZADD', base .. '${KEY.lease}' .. agent, num(head.lease), name)
elseif step == 'begin' then
  count(ARGV[7], 0)
elseif step == 'checkpoint' then
  call('HSET', task, 'k' .. turn, ARGV[7])
else
  local before = settled(head)
  head.held = 0
  head.lease = 0
  if step == 'done' then
    drop_turn(task, head, turn)
  elseif step == 'released' then
    count(ARGV[7], tonumber(ARGV[8]))
  end
  call('HSET', task, 'h', text_of(head))
  settle(task, name, agent, head, before)
  if step == 'aside' then
    call('ZREM', base .. '${KEY.ready}' .. agent, name)
  end
end
return { waiting(head), 1, call('HGET', task, 'x' .. turn) }
`;

/**
 * Keeps a request to cancel with the held turn. The plain case: no earlier request is kept. With one, nothing is
 * written, and the answer has it; the caller merges both and says which it has seen.
 *
 * Answers the time, the head, and 1 if an earlier request is in the way. The content follows if no lease lasts.
 */
export const CANCEL = `
local task = KEYS[1]
local name, request, seen = ARGV[2], ARGV[3], ARGV[4]
local time = now()
local known = call('HMGET', task, 'h', 'n', 'c')
local head = known[1] and parse(known[1])
if not head or head.ended > 0 then
  return { num(time), known }
end
if head.held > 0 then
  local field = 'x' .. num(head.held)
  local earlier = call('HGET', task, field)
  if earlier and earlier ~= seen then
    return { num(time), known, 1, earlier }
  end
  call('HSET', task, field, request)
  if head.lease > time then
    return { num(time), known, 0 }
  end
end
return { num(time), known, 0, content(task, base .. '${KEY.log}' .. name, head) }
`;
