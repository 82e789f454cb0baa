import { NEXT_PLACE_LUA } from '../rules/turn-place.js';
import { INSERT } from './insert-lua.js';
import { KEY_LUA } from './key-lua.js';
import { BLOCKED_LUA } from './owner-scripts.js';
import { KEY } from './redis-keys.js';

/**
 * Takes a message in. In the plain case the key is new. The task is new, or it goes on, has the context that the caller
 * names, and has room for the message. In any other case nothing is written, and the answer tells what is there.
 *
 * Answers: 1 accepted; 0 the head of the task; 2 the same message waits or runs; 3 the key is there. Answers 4 if the
 * task has no room for the configuration, 5 if the owner is blocked.
 */
export const ACCEPT = `${KEY_LUA}${INSERT}${BLOCKED_LUA}
local task = KEYS[1]
local name, scope, agent, id, mode, again, message, caller, node, lease_ms, limit, context, key =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], tonumber(ARGV[12]),
  ARGV[13], ARGV[14]
local log = base .. '${KEY.log}' .. name
local time = now()
if is_blocked(scope, time) then
  return { 5 }
end
local known = call('HMGET', task, 'h', 'n', 'c')
local head = known[1] and parse(known[1])

if again == '1' and head then
  local found
  for turn in string.gmatch(head.queue, '%d+') do
    local texts = call('HMGET', task, 'm' .. turn, 'c' .. turn)
    if texts[1] == message and texts[2] == caller then
      found = turn
    end
  end
  if found then
    local turn = call('HMGET', task, 'n' .. found, 'k' .. found, 'x' .. found)
    return { 2, num(time), known, found, turn, content(task, log, head) }
  end
end
if key ~= '' then
  local kept = read_key(key, scope)
  if kept and kept.seen ~= ARGV[17] then
    return { 3, num(time), kept.reply, known }
  end
end

if mode == 'create' then
  if head then
    return { 0, num(time), known }
  end
  head = insert(task, name, scope, agent, id, 21, time)
else
  local queued = 0
  if head then
    queued = waiting(head) + (head.held > 0 and 1 or 0)
  end
  if not head or head.ended > 0 or (context ~= '' and context ~= known[3]) or queued > limit then
    return { 0, num(time), known }
  end
  if ARGV[18] ~= '' and not has_config_room(name, head, ARGV[18], ARGV[20]) then
    return { 4 }
  end
end

local before = settled(head)
local claims = lease_ms ~= '' and head.queue == ''
head.turns = head.turns + 1
local turn = num(head.turns)
local last = call('HGET', base .. '${KEY.count}', 'place')
local place = num(${NEXT_PLACE_LUA})
call('HSET', base .. '${KEY.count}', 'place', place)
head.queue = head.queue == '' and turn or head.queue .. ',' .. turn
if claims then
  head.epoch = head.epoch + 1
  head.held = head.turns
  head.lease = time + tonumber(lease_ms)
end
local is_due = false
if ARGV[18] ~= '' then
  local position = mode == 'create' and 0 or head.seq
  is_due = put_config(name, agent, head, ARGV[18], ARGV[19], position, time)
end
call('HSET', task, 'h', text_of(head), 'm' .. turn, message, 'c' .. turn, caller,
  'n' .. turn, (claims and '1' or '0') .. ' 0 ' .. place)
if claims then
  call('HSET', task, 'n', node)
end
settle(task, name, agent, head, before)
if key ~= '' then
  put_key(key, scope, time, ARGV[15], '-1', '', ARGV[16], name, turn, '')
end
local whole = false
if claims and mode ~= 'create' then
  whole = content(task, log, head)
end
return { 1, turn, num(head.seq), claims and num(head.epoch) or false, is_due and 1 or 0, whole, head.held > 0 and 0 or 1 }
`;

/** Stores a task that no message created. Answers 1, 0 if the id is taken, or 5 if the owner is blocked. */
export const CREATE = `${INSERT}${BLOCKED_LUA}
local task = KEYS[1]
if is_blocked(ARGV[3], now()) then
  return 5
end
if call('EXISTS', task) == 1 then
  return 0
end
local head = insert(task, ARGV[2], ARGV[3], ARGV[4], ARGV[5], 6, now())
call('HSET', task, 'h', text_of(head))
return 1
`;
