import { KEY } from './redis-keys.js';

/** Maximum number of due queues of one agent that a claim reads, including those that other nodes hold. */
const LOOKED_AT = 1_000;

/** Returns the number of due queues of a partition for some agents, including held ones. */
export const PEEK_DELIVERIES = `
local time = num(now())
local count = 0
for at = 2, #ARGV do
  count = count + call('ZCOUNT', base .. '${KEY.due}' .. ARGV[at], '-inf', time)
end
return { count }
`;

/**
 * Claims due queues that no node holds, earliest first. The rule is `isDeliveryClaimable`. Returns the claims, and 1 if
 * a limit ended the list. A claim is DELIVERY, its new head, and its configuration. Then come the last record number of
 * its task, the number of its first record, and the texts of its records.
 */
export const CLAIM_DELIVERIES = `
local node, lease_ms, limit, left = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = now()

-- The pending records of a queue, up to the bytes that are left, but at least one.
local function pending(name, seq, position)
  local log = base .. '${KEY.log}' .. name
  local floor = seq - call('LLEN', log) + 1
  local at, found, step = math.max(0, position + 1 - floor), {}, 8
  local first = floor + at
  while true do
    local records = call('LRANGE', log, num(at), num(at + step - 1))
    for _, record in ipairs(records) do
      local from = string.find(record, '\\n', 1, true)
      local to = string.find(record, '\\n', from + 1, true) or #record + 1
      local bytes = to - from - 1
      if #found > 0 and bytes > left then
        return first, found
      end
      left = left - bytes
      found[#found + 1] = record
    end
    if #records < step then
      return first, found
    end
    at, step = at + step, math.min(step * 2, 128)
  end
end

local due = {}
for at = 6, #ARGV do
  local members = call('ZRANGEBYSCORE', base .. '${KEY.due}' .. ARGV[at], '-inf', num(time), 'LIMIT', 0, ${LOOKED_AT})
  for _, member in ipairs(members) do
    -- A quotation mark within a JSON text has a backslash before it.
    local start, config = string.match(member, '^(.*),(".*)%]$')
    local name = start .. ']'
    local head = call('HGET', base .. '${KEY.deliveries}' .. name, config)
    if head then
      local position, since, attempts, status, epoch, lease, order, _, names = string.match(head, DELIVERY)
      if since ~= '-1' and tonumber(since) <= time and tonumber(lease) <= time then
        due[#due + 1] = { member = member, name = name, config = config, position = position, since = since,
          attempts = attempts, status = status, epoch = epoch, order = order,
          trace = string.match(names, ',null(,"[^"]*")%]$') or '' }
      end
    end
  end
end
table.sort(due, function(one, other)
  if one.since ~= other.since then
    return tonumber(one.since) < tonumber(other.since)
  end
  return tonumber(one.order) < tonumber(other.order)
end)

local claims = {}
for _, queue in ipairs(due) do
  if #claims >= limit or (#claims > 0 and left <= 0) then
    return { claims, 1 }
  end
  local task = parse(call('HGET', base .. '${KEY.task}' .. queue.name, 'h'))
  local first, records = pending(queue.name, task.seq, tonumber(queue.position))
  local epoch = num(tonumber(queue.epoch) + 1)
  local head = table.concat({ queue.position, queue.since, queue.attempts, queue.status, epoch, num(time + lease_ms),
    queue.order, '0', '[' .. node .. ',null' .. queue.trace .. ']' }, ' ')
  call('HSET', base .. '${KEY.deliveries}' .. queue.name, queue.config, head)
  local config = call('HGET', base .. '${KEY.configs}' .. queue.name, queue.config)
  claims[#claims + 1] = { queue.member, head, config, num(task.seq), num(first), records }
end
return { claims, 0 }
`;

/**
 * Reads a queue. Returns the time, its head, the floor of the log, and the last record number; nil if there is none.
 */
export const READ_DELIVERY = `
local head = call('HGET', base .. '${KEY.deliveries}' .. ARGV[2], ARGV[3])
local known = call('HGET', KEYS[1], 'h')
if not head or not known then
  return false
end
local seq = parse(known).seq
return { num(now()), head, num(seq - call('LLEN', base .. '${KEY.log}' .. ARGV[2]) + 1), num(seq) }
`;

/** Writes the head of a queue, if the queue and the last record are unchanged. Returns 1 or 0. */
export const WRITE_DELIVERY = `
local name, agent, config, seen, last, head, due = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local known = call('HGET', KEYS[1], 'h')
local heads, member = base .. '${KEY.deliveries}' .. name, delivery_name(name, config)
if not known or num(parse(known).seq) ~= last or call('HGET', heads, config) ~= seen then
  return 0
end
call('HSET', heads, config, head)
if due ~= '' then
  call('ZADD', base .. '${KEY.due}' .. agent, due, member)
else
  call('ZREM', base .. '${KEY.due}' .. agent, member)
end
return 1
`;

/**
 * Lists queues of a partition after an order. ARGV: the state, the order, the limit, the prefix of DELIVERY, and the
 * agents, or `*` for all. Returns DELIVERY, head, last record and order of each. If there may be more, it also returns
 * the last order that it has read.
 */
export const LIST_DELIVERIES = `
local standing, after, limit, only = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local agents = ARGV[6] == '*' and call('SMEMBERS', base .. '${KEY.agents}') or { unpack(ARGV, 6) }
local found = {}
for _, agent in ipairs(agents) do
  local members = call('ZRANGE', base .. '${KEY.queues}' .. agent, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0,
    ${LOOKED_AT}, 'WITHSCORES')
  for place = 1, #members, 2 do
    found[#found + 1] = { members[place], tonumber(members[place + 1]) }
  end
  if #members == ${2 * LOOKED_AT} then
    found.bound = math.min(found.bound or math.huge, tonumber(members[#members]))
  end
end
table.sort(found, function(one, other)
  return one[2] < other[2]
end)
local queues = {}
for _, entry in ipairs(found) do
  local member, order = entry[1], entry[2]
  if found.bound and order > found.bound then
    break
  end
  if only == '' or string.sub(member, 1, #only) == only then
    local start, config = string.match(member, '^(.*),(".*)%]$')
    local name = start .. ']'
    local head = call('HGET', base .. '${KEY.deliveries}' .. name, config)
    local _, due, _, _, _, _, _, parked = string.match(head, DELIVERY)
    if standing == '' or (standing == 'pending' and due ~= '-1') or (standing == 'parked' and parked == '1') then
      if #queues >= limit then
        return { queues, queues[#queues] and queues[#queues][4] or after }
      end
      local seq = parse(call('HGET', base .. '${KEY.task}' .. name, 'h')).seq
      queues[#queues + 1] = { member, head, num(seq), num(order) }
    end
  end
end
return { queues, found.bound and num(found.bound) or false }
`;

/** Replaces the text of a configuration; 0 if it is no longer the expected one. */
export const REWRITE_CONFIG = `
local configs = base .. '${KEY.configs}' .. ARGV[2]
if call('HGET', configs, ARGV[3]) ~= ARGV[4] then
  return 0
end
call('HSET', configs, ARGV[3], ARGV[5])
return 1
`;

/** Deletes a configuration. Returns 0 if there is no task. */
export const DELETE_CONFIG = `
local known = call('HGET', KEYS[1], 'h')
if not known then
  return 0
end
local head = parse(known)
if drop_config(ARGV[2], ARGV[3], head, ARGV[4]) then
  call('HSET', KEYS[1], 'h', text_of(head))
end
return 1
`;

/** Returns the configurations of a task; nil if there is no task. With an id it returns only that one. */
export const READ_CONFIGS = `
if call('EXISTS', KEYS[1]) == 0 then
  return false
end
if ARGV[3] ~= '' then
  return { call('HGET', base .. '${KEY.configs}' .. ARGV[2], ARGV[3]) }
end
return call('HVALS', base .. '${KEY.configs}' .. ARGV[2])
`;
