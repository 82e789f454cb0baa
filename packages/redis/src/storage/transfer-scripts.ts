import { KEY_LUA } from './key-lua.js';
import { NEXT_PLACE_LUA } from './lua-prelude.js';
import { KEY } from './redis-keys.js';

/** Maximum number of log elements that one command writes. */
const CHUNK = 200;

/**
 * Inserts a copied task with everything that belongs to it. ARGV: NAME, SCOPE, AGENT, the id, the head, context,
 * status, metadata, history and artifacts. Then the numbers of its records, turns and configurations, followed by
 * these. A turn has 6 fields, a configuration 4. An empty text means absent.
 * Returns 1, or 0 if the id exists.
 */
export const PUT_TASK = `
local task, name, scope, agent, id = KEYS[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if call('EXISTS', task) == 1 then
  return 0
end
local head, context, time = parse(ARGV[6]), ARGV[7], now()
local records, turns, configs = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local fields = {}
local function set(field, text)
  if text ~= '' then
    fields[#fields + 1] = field
    fields[#fields + 1] = text
  end
end
set('c', context)
set('s', ARGV[8])
set('d', ARGV[9])
set('y', num(head.seq))
set('yh', ARGV[10])
set('ya', ARGV[11])
if head.ended == 0 then
  set('ys', ARGV[8])
  set('yd', ARGV[9])
end
local at = 15
for first = at, at + records - 1, ${CHUNK} do
  call('RPUSH', base .. '${KEY.log}' .. name, unpack(ARGV, first, math.min(first + ${CHUNK}, at + records) - 1))
end
at = at + records
for _ = 1, turns do
  local turn = ARGV[at]
  local last = call('HGET', base .. '${KEY.count}', 'place')
  local place = num(${NEXT_PLACE_LUA})
  call('HSET', base .. '${KEY.count}', 'place', place)
  set('n' .. turn, ARGV[at + 1] .. ' ' .. place)
  set('m' .. turn, ARGV[at + 2])
  set('c' .. turn, ARGV[at + 3])
  set('k' .. turn, ARGV[at + 4])
  set('x' .. turn, ARGV[at + 5])
  at = at + 6
end
for first = 1, #fields, ${CHUNK} do
  call('HSET', task, unpack(fields, first, math.min(first + ${CHUNK} - 1, #fields)))
end
for _ = 1, configs do
  local config, due = ARGV[at], ARGV[at + 2]
  local member = delivery_name(name, config)
  local order = num(call('HINCRBY', base .. '${KEY.count}', 'order', 1))
  call('HSET', base .. '${KEY.configs}' .. name, config, ARGV[at + 1])
  -- Epochs begin with the time. Nobody holds the queue.
  local text = string.gsub(ARGV[at + 3], '@', num(time) .. ' -1 ' .. order, 1)
  call('HSET', base .. '${KEY.deliveries}' .. name, config, text)
  call('ZADD', base .. '${KEY.queues}' .. agent, order, member)
  call('SADD', base .. '${KEY.agents}', agent)
  if due ~= '' then
    call('ZADD', base .. '${KEY.due}' .. agent, due, member)
  end
  at = at + 4
end
call('ZADD', base .. '${KEY.made}' .. scope, num(head.made), id)
list(name, scope, agent, id, head, context ~= '' and context, nil)
if head.ended > 0 then
  call('ZADD', base .. '${KEY.ended}', num(head.ended), name)
  if records > 0 then
    call('ZADD', base .. '${KEY.logs}', num(head.ended), name)
    call('HINCRBY', base .. '${KEY.count}', 'logs', num(head.bytes))
  end
end
settle(task, name, agent, head, nil)
call('HSET', task, 'h', text_of(head))
return 1
`;

/** Inserts a copied key, unless its scope has it. ARGV: SCOPE, the key, expiry, digest, NAME, turn and reply. */
export const PUT_KEY = `${KEY_LUA}
local scope, key, time = ARGV[2], ARGV[3], now()
if not read_key(key, scope) then
  put_key(key, scope, time, num(tonumber(ARGV[4]) - time), '-1', '', ARGV[5], ARGV[6], ARGV[7], ARGV[8])
end
return false
`;
