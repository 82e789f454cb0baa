import { INTERRUPTED_STATES, PLACES_PER_MS } from 'parley-a2a/storage-engine';
import { KEY, TASK_FIELD } from './redis-keys.js';

const { head, node, context, status, metadata, snapshot, snapshotStatus, snapshotMetadata, ...rest } = TASK_FIELD;
/** The fields of a task in the order of `TaskContent`. */
const CONTENT = [
  ...[head, node, context, status, metadata, snapshot, snapshotStatus, snapshotMetadata],
  ...[rest.history, rest.artifacts],
];

/** Lua for `nextPlace`: `last` is the text of the last place or false, `time` a number. */
export const NEXT_PLACE_LUA = `math.max(tonumber(last or '0') + 1, time * ${PLACES_PER_MS})`;

/** Lua for the storage's time, in ms since the epoch. All ages, leases and expiries use it. */
export const SERVER_TIME = `
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * The functions of all scripts. `ARGV[1]` is the prefix of all keys of the partition. A number must be converted to
 * text by `num`, because Lua's own conversion has only 14 digits.
 * `time`: Lua for the storage's time; tests replace it.
 */
export function luaPrelude(time: string): string {
  return `
local base = ARGV[1]
local call = redis.call
local function now()
${time}
end
local function num(n)
  -- Lua has a negative zero, which the server refuses.
  return string.format('%.0f', n + 0)
end

local HEAD = '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$'
local function parse(text)
  local version, seq, bytes, epoch, held, began, ended, configs, queue, turns, lease, state, since, made =
    string.match(text, HEAD)
  return {
    version = tonumber(version), seq = tonumber(seq), bytes = tonumber(bytes), epoch = tonumber(epoch),
    held = tonumber(held), began = tonumber(began), ended = tonumber(ended), configs = tonumber(configs),
    queue = queue == '-' and '' or queue, turns = tonumber(turns), lease = tonumber(lease), state = state,
    since = tonumber(since), made = tonumber(made),
  }
end
local function text_as_is(head)
  return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %s %.0f %.0f %s %.0f %.0f',
    head.version, head.seq, head.bytes, head.epoch, head.held, head.began, head.ended, head.configs,
    head.queue == '' and '-' or head.queue, head.turns, head.lease, head.state, head.since, head.made)
end
local function text_of(head)
  head.version = head.version + 1
  return text_as_is(head)
end

-- SCOPE and AGENT of a NAME. A comma and a quotation mark follow each other only between two texts of the JSON.
local function scope_of(name)
  return string.match(name, '^(.*),".*%]$') .. ']'
end
local function agent_of(name)
  return string.match(name, '^%[(.-),"')
end

-- Count of the turns that have no holder.
local function waiting(head)
  if head.queue == '' then
    return 0
  end
  local _, commas = string.gsub(head.queue, ',', '')
  return head.held > 0 and commas or commas + 1
end
local function first_turn(head)
  return string.match(head.queue, '^%d+')
end

-- Puts a task where claims find it. before: its head before the change; nil for a new task.
local function settle(task, name, agent, head, before)
  local ready, lease = base .. '${KEY.ready}' .. agent, base .. '${KEY.lease}' .. agent
  local was_held = before and before.held > 0
  local was_ready = before and before.held == 0 and before.queue ~= ''
  local is_ready = head.held == 0 and head.queue ~= ''
  if head.held > 0 then
    call('ZADD', lease, num(head.lease), name)
  elseif was_held then
    call('ZREM', lease, name)
  end
  if is_ready then
    local place = string.match(call('HGET', task, 'n' .. first_turn(head)), '%S+$')
    call('ZADD', ready, place, name)
    call('SADD', base .. '${KEY.agents}', agent)
  elseif was_ready then
    call('ZREM', ready, name)
  end
  local added = waiting(head) - (before and before.waiting or 0)
  if added ~= 0 then
    call('HINCRBY', base .. '${KEY.count}', 'waiting', num(added))
  end
end
-- The part of a head that settle compares.
local function settled(head)
  return { held = head.held, queue = head.queue, waiting = waiting(head) }
end

local function is_interrupted(state)
  return ${INTERRUPTED_STATES.map((number) => `state == '${number}'`).join(' or ')}
end
-- Lists a task under its state and status time. before: the state under which it is listed; nil for a new task.
local function list(name, scope, agent, id, head, context, before)
  local since = num(head.since)
  if before and before ~= head.state then
    call('ZREM', base .. '${KEY.state}' .. before .. scope, id)
  end
  call('ZADD', base .. '${KEY.state}' .. head.state .. scope, since, id)
  if context then
    call('ZADD', base .. '${KEY.context}' .. scope .. context, since, id)
  end
  if is_interrupted(head.state) then
    call('ZADD', base .. '${KEY.waits}' .. agent, since, name)
  elseif before and is_interrupted(before) then
    call('ZREM', base .. '${KEY.waits}' .. agent, name)
  end
end
-- Notes the end of a task.
local function finish(name, head, time)
  head.ended = time
  call('ZADD', base .. '${KEY.ended}', num(time), name)
  call('ZADD', base .. '${KEY.logs}', num(time), name)
  call('HINCRBY', base .. '${KEY.count}', 'logs', num(head.bytes))
end

-- The fields of a task, and its records behind its snapshot. A task that has ended needs none.
local function content(task, log, head)
  local fields = call('HMGET', task, ${CONTENT.map((field) => `'${field}'`).join(', ')})
  if head.ended > 0 then
    return { fields, {} }
  end
  local missing = head.seq - (tonumber(fields[6]) or 0)
  if missing == 0 then
    return { fields, {} }
  end
  return { fields, call('LRANGE', log, num(-missing), -1) }
end

-- Heads of queues of deliveries: position due attempts status epoch lease order parked, and JSON [node,reason]
-- or [node,reason,trace].
-- due, status and lease are -1 if there is none; parked is 0 or 1.
local DELIVERY = '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$'
local function delivery_name(name, config)
  return string.sub(name, 1, -2) .. ',' .. config .. ']'
end
-- Removes a configuration with its queue. False if there is none.
local function drop_config(name, agent, head, config)
  if call('HDEL', base .. '${KEY.configs}' .. name, config) == 0 then
    return false
  end
  call('HDEL', base .. '${KEY.deliveries}' .. name, config)
  call('ZREM', base .. '${KEY.due}' .. agent, delivery_name(name, config))
  call('ZREM', base .. '${KEY.queues}' .. agent, delivery_name(name, config))
  head.configs = head.configs - 1
  return true
end
`;
}
