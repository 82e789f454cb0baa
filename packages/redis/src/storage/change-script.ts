import { KEY_LUA } from './key-lua.js';
import { NEXT_PLACE_LUA } from './lua-prelude.js';
import { BLOCKED_LUA } from './owner-scripts.js';
import { KEY } from './redis-keys.js';

/** Maximum number of log elements in one command. */
const CHUNK = 200;
/** Maximum number of logs of finished tasks that one change deletes. */
const TRIMMED = 16;

/**
 * Writes a change that consists of chunks only. It runs before the prelude, because most changes end here, and a script
 * creates all functions of its prelude at each run. See `CHANGE`.
 */
export const CHANGE_CHUNKS = `
local task, count = KEYS[1], tonumber(ARGV[6])
local known = redis.call('HGET', task, 'h')
local after_text = ARGV[4] .. string.sub(ARGV[3], ARGV[5])
if #ARGV == 6 + count and known == ARGV[3] then
  redis.call('RPUSH', ARGV[1] .. '${KEY.log}' .. ARGV[2], unpack(ARGV, 7, 6 + count))
  redis.call('HSET', task, 'h', after_text)
  return 1
end
`;

/** Lua that deletes the whole log of a finished task. Returns the bytes of the logs of all finished tasks. */
export const DROP_LOG = `
local function drop_log(name)
  local task = base .. '${KEY.task}' .. name
  local head = call('HGET', task, 'h')
  call('UNLINK', base .. '${KEY.log}' .. name)
  call('ZREM', base .. '${KEY.logs}', name)
  if not head then
    return tonumber(call('HGET', base .. '${KEY.count}', 'logs') or '0')
  end
  head = parse(head)
  local sum = call('HINCRBY', base .. '${KEY.count}', 'logs', num(-head.bytes))
  head.bytes = 0
  call('HSET', task, 'h', text_of(head))
  return sum
end
`;

/**
 * Lua that reads the rows of a question. `asked` has its parts by name: `key`, `config`, `again` with `message` and
 * `caller`, `cancel`, and `after` with `count`. An empty list means that a part was not asked for.
 */
const ROWS = `${KEY_LUA}${BLOCKED_LUA}
local function named_arguments(at)
  local named = {}
  for place = at, #ARGV, 2 do
    named[ARGV[place]] = ARGV[place + 1]
  end
  return named
end
local function same_turn(task, head, asked)
  local found
  for turn in string.gmatch(head.queue, '%d+') do
    local texts = call('HMGET', task, 'm' .. turn, 'c' .. turn)
    if texts[1] == asked.message and texts[2] == asked.caller then
      found = turn
    end
  end
  return found and { found, call('HMGET', task, 'n' .. found, 'k' .. found, 'x' .. found) } or false
end
-- The records behind a number, if there are so many.
local function tail(name, head, asked)
  local count = tonumber(asked.count)
  if count == 0 or head.seq - tonumber(asked.after) ~= count then
    return false
  end
  return call('LRANGE', base .. '${KEY.log}' .. name, num(-count), -1)
end
local function rows_of(task, name, asked, time)
  local scope = scope_of(name)
  local known = call('HMGET', task, 'h', 'n', 'c')
  local head = known[1] and parse(known[1])
  local key = asked.key and read_key(asked.key, scope)
  local is_held = head and head.held > 0
  return {
    num(time), is_blocked(scope, time) and 1 or 0, known,
    asked.again and head and same_turn(task, head, asked) or false,
    key and key.reply or false,
    asked.config and call('HEXISTS', base .. '${KEY.configs}' .. name, asked.config) or 0,
    asked.after and head and tail(name, head, asked) or false,
    asked.cancel and is_held and call('HGET', task, 'x' .. num(head.held)) or false,
  }
end
`;

/** Reads the rows of a question. ARGV: NAME, then the parts of the question, each after its name. */
export const LOAD = `${ROWS}
return rows_of(KEYS[1], ARGV[2], named_arguments(3), now())
`;

/**
 * Lua for the delivery queues of a changed task. `queueOfConfig` and `makeDue` of the engine have the same rules. They
 * are repeated here, so that an append needs no second call.
 */
const QUEUES = `
-- Makes the queues of a task due that wait for a record. True if there is one.
local function mark_due(name, agent, time)
  local heads = call('HGETALL', base .. '${KEY.deliveries}' .. name)
  local is_due = false
  for at = 1, #heads, 2 do
    local position, due, attempts, status, epoch, lease, order, parked, rest = string.match(heads[at + 1], DELIVERY)
    if due == '-1' and parked == '0' then
      local fields = { position, num(time), attempts, status, epoch, lease, order, parked, rest }
      call('HSET', base .. '${KEY.deliveries}' .. name, heads[at], table.concat(fields, ' '))
      call('ZADD', base .. '${KEY.due}' .. agent, num(time), delivery_name(name, heads[at]))
      is_due = true
    end
  end
  return is_due
end
-- Adds or replaces a configuration. A new queue begins behind a position.
-- True if its queue is due.
local function put_config(name, agent, head, config, text, position, time)
  local configs, heads = base .. '${KEY.configs}' .. name, base .. '${KEY.deliveries}' .. name
  local earlier = call('HGET', configs, config)
  if earlier == text then
    return false
  end
  local epoch, order = time, nil
  if earlier then
    local kept = call('HGET', heads, config)
    local at, _, _, _, its_epoch, _, its_order = string.match(kept, DELIVERY)
    position, epoch, order = tonumber(at), tonumber(its_epoch), its_order
  else
    order = num(call('HINCRBY', base .. '${KEY.count}', 'order', 1))
    head.configs = head.configs + 1
    call('ZADD', base .. '${KEY.queues}' .. agent, order, delivery_name(name, config))
    call('SADD', base .. '${KEY.agents}', agent)
  end
  local is_due = position < head.seq
  local due = is_due and num(time) or '-1'
  local fields = { num(position), due, '0', '-1', num(epoch + 1), '-1', order, '0', '[null,null]' }
  call('HSET', configs, config, text)
  call('HSET', heads, config, table.concat(fields, ' '))
  if is_due then
    call('ZADD', base .. '${KEY.due}' .. agent, due, delivery_name(name, config))
  else
    call('ZREM', base .. '${KEY.due}' .. agent, delivery_name(name, config))
  end
  return is_due
end
`;

/**
 * Writes a change of a task, if its head, its key and its owner are unchanged since the decision of the engine. It
 * contains no other rules. A change without records is also written after records that were appended in the meantime:
 * otherwise a turn that writes continuously could block it forever. It runs after `CHANGE_CHUNKS`.
 * ARGV: NAME, the whole head before, the changed prefix of the head after, and the index in the head before from which
 * both are equal. Then the records, and the fields with their texts, each after their number. Then the fields to
 * remove, separated by spaces, and the other parts, each after its name. The script adds the times of the server.
 * Returns 1, or 1 and the head, and 1 if a delivery became due. If the content or the request to cancel is asked for,
 * the time and both follow. If anything has changed, the script returns 0 and the rows of the question.
 */
export const CHANGE = `${ROWS}${DROP_LOG}${QUEUES}
local name, before_text, at = ARGV[2], ARGV[3], 7 + count
local fields, gone, after_fields = {}, {}, at + 1 + tonumber(ARGV[at] or '0')
for place = at + 1, after_fields - 1 do
  fields[#fields + 1] = ARGV[place]
end
for field in string.gmatch(ARGV[after_fields] or '', '%S+') do
  gone[#gone + 1] = field
end
local given = named_arguments(after_fields + 1)
local log, time = base .. '${KEY.log}' .. name, now()
local scope, agent = scope_of(name), agent_of(name)
local before = before_text ~= '' and parse(before_text)

-- The part of a head that records alone do not change: from the epoch to the lease.
local function fence_of(text)
  return string.match(text, '^%S+ %S+ %S+ (%S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+) ')
end
local has_grown = given.fence and known and known ~= before_text and fence_of(known) == fence_of(before_text)
local function has_moved()
  if (known or '') ~= before_text and not has_grown then
    return true
  end
  if given.uncanceled and call('HEXISTS', task, 'x' .. given.uncanceled) == 1 then
    return true
  end
  if given.key then
    local kept = read_key(given.key, scope)
    if (kept and kept.seen or '') ~= given.seen then
      return true
    end
  end
  return given.fresh and is_blocked(scope, time)
end
if has_moved() then
  if before and count > 0 then
    given.after, given.count = num(before.seq), num(count)
  end
  return { 0, rows_of(task, name, given, time) }
end

local head = parse(after_text)
if has_grown then
  before = parse(known)
  head.version = before.version + 1
  head.seq, head.bytes, head.state, head.since = before.seq, before.bytes, before.state, before.since
end
local function set(field, text)
  fields[#fields + 1] = field
  fields[#fields + 1] = text
end
if given.lease then
  head.lease = time + tonumber(given.lease)
end
if not before then
  -- In a slot that moves, the script may fail at a key that is not here: nothing must be listed by then.
  head.made = time
  call('HSET', task, unpack(fields))
  fields = {}
end
for first = 7, 6 + count, ${CHUNK} do
  call('RPUSH', log, unpack(ARGV, first, math.min(first + ${CHUNK} - 1, 6 + count)))
end
if not before then
  call('ZADD', base .. '${KEY.made}' .. scope, num(time), given.id)
end
-- The id comes with a new task, and with a change of its state or its status time.
if given.id then
  local context = before and call('HGET', task, 'c') or given.context
  list(name, scope, agent, given.id, head, context, before and before.state)
end
if given.added then
  local last = call('HGET', base .. '${KEY.count}', 'place')
  local place = num(${NEXT_PLACE_LUA})
  call('HSET', base .. '${KEY.count}', 'place', place)
  set('n' .. given.added, given.attempts .. ' 0 ' .. place)
elseif given.counted then
  local field = 'n' .. given.counted
  local hand_overs, place = string.match(call('HGET', task, field), '^%S+ (%S+) (%S+)$')
  set(field, given.attempts .. ' ' .. num(tonumber(hand_overs) + tonumber(given.hand_overs)) .. ' ' .. place)
end

local is_due = false
if given.config_text then
  -- The records of a new task are all to be delivered.
  local position = before and head.seq or 0
  is_due = put_config(name, agent, head, given.config, given.config_text, position, time)
end
if before and count > 0 and head.configs > 0 then
  is_due = mark_due(name, agent, time) or is_due
end
if given.ends then
  finish(name, head, time)
elseif given.log_bytes and head.bytes > tonumber(given.log_bytes) then
  -- The older half of a log that goes on and on; the snapshot has all of it.
  local freed, dropped = 0, 0
  while dropped < count + head.seq do
    local records = call('LRANGE', log, num(dropped), num(dropped + ${CHUNK} - 1))
    for _, record in ipairs(records) do
      if freed >= head.bytes / 2 then
        break
      end
      freed = freed + #record
      dropped = dropped + 1
    end
    if #records < ${CHUNK} or freed >= head.bytes / 2 then
      break
    end
  end
  dropped = math.min(dropped, call('LLEN', log) - 1)
  call('LTRIM', log, num(dropped), -1)
  head.bytes = math.max(0, head.bytes - freed)
end
for first = 1, #gone, ${CHUNK} do
  call('HDEL', task, unpack(gone, first, math.min(first + ${CHUNK} - 1, #gone)))
end
local text = text_as_is(head)
set('h', text)
call('HSET', task, unpack(fields))
if not before or before.held ~= head.held or before.queue ~= head.queue or before.lease ~= head.lease then
  settle(task, name, agent, head, before and settled(before))
end
if given.ttl then
  put_key(given.key, scope, time, given.ttl, '-1', '', given.digest, name, given.key_turn, '')
end

if given.ends then
  -- The logs of the tasks that ended first go while all of them take too much.
  local sum = tonumber(call('HGET', base .. '${KEY.count}', 'logs'))
  for _ = 1, ${TRIMMED} do
    if sum <= tonumber(given.ends) then
      break
    end
    local oldest = call('ZRANGE', base .. '${KEY.logs}', 0, 1)
    local other = oldest[1] ~= name and oldest[1] or oldest[2]
    if not other then
      break
    end
    sum = drop_log(other)
  end
end
local due = is_due and 1 or 0
if not given.whole and not given.cancel then
  return { 1, text, due }
end
return { 1, text, due, num(time), given.whole and content(task, log, head) or false,
  given.cancel and head.held > 0 and call('HGET', task, 'x' .. num(head.held)) or false }
`;
