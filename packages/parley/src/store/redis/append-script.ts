import { KEY } from './redis-keys.js';

/** Elements of a log that one command reads at most. */
const CHUNK = 200;
/** Logs of finished tasks that one append removes at most. */
const TRIMMED = 16;

/**
 * Appends chunks of the only turn of a task: they change three numbers. It runs before the prelude, because most
 * appends end here, and a script makes all functions of its prelude each time.
 */
export const APPEND_CHUNKS = `
local task = KEYS[1]
local known = redis.call('HGET', task, 'h')
if ARGV[6] ~= '' and known then
  local version, seq, bytes, fence, rest = string.match(known, '^(%S+) (%S+) (%S+) (%S+ %S+ %S+ %S+ %S+ %S+)( .*)$')
  if seq == ARGV[3] and fence == ARGV[6] then
    local count = tonumber(ARGV[4])
    redis.call('RPUSH', ARGV[1] .. '${KEY.log}' .. ARGV[2], unpack(ARGV, 7, 6 + count))
    local numbers = string.format('%.0f %.0f %.0f ', version + 1, seq + count, bytes + ARGV[5])
    redis.call('HSET', task, 'h', numbers .. fence .. rest)
    return { 1, 0, 0 }
  end
end
`;

/**
 * Adds records to the log of a task, behind `APPEND_CHUNKS`. In the plain case the writer is the running turn and knows
 * the last record, and the task has not ended. In any other case nothing is written, and the answer is the head. Then
 * rules/decide-append.ts decides, and the script applies the decision if the head still has that version.
 *
 * Answers: 1 appended, with the count of waiting turns; 0 the head.
 */
export const APPEND = `
local name, after, count = ARGV[2], ARGV[3], tonumber(ARGV[4])
local log = base .. '${KEY.log}' .. name

local first = 7 + count
local function arg(at)
  return ARGV[first + at] or ''
end
local agent, authority, version, ends_turn, ends = arg(0), arg(1), arg(2), arg(3), arg(4) == '1'
local head = known and parse(known)
local epoch, began, keeps, drops

local function slow()
  return { 0, num(now()), call('HMGET', task, 'h', 'n', 'c') }
end
if not head then
  return slow()
elseif version == '' then
  if num(head.epoch) ~= authority or head.held == 0 or num(head.seq) ~= after or head.ended > 0 then
    return slow()
  end
  local held = num(head.held)
  epoch, began, keeps, drops = head.epoch, head.began, not ends and held ~= ends_turn, ends and 'all' or ends_turn
  if ends or count > 0 then
    began = head.held
  end
else
  if num(head.version) ~= version then
    return slow()
  end
  epoch, began, keeps, drops = tonumber(arg(5)), tonumber(arg(6)), arg(7) == '1', arg(8)
end

local fields = { 'h', '' }
local function set(field, text)
  fields[#fields + 1] = field
  fields[#fields + 1] = text
end
if arg(9) ~= '' and head.held > 0 then
  set('k' .. num(head.held), arg(9))
end
local before = (not keeps or drops ~= '') and settled(head)
local was_state = head.state
head.seq = head.seq + count
head.epoch = epoch
head.began = began
head.bytes = head.bytes + tonumber(ARGV[5])
if not keeps then
  head.held = 0
  head.lease = 0
end
for at = 7, 6 + count, ${CHUNK} do
  call('RPUSH', log, unpack(ARGV, at, math.min(at + ${CHUNK} - 1, 6 + count)))
end
local gone = {}
if arg(12) ~= '' then
  head.state = arg(12)
  local since = tonumber(arg(13))
  if head.state ~= was_state or since ~= head.since then
    head.since = since
    list(name, arg(10), agent, arg(11), head, call('HGET', task, 'c'), was_state)
  end
  set('s', arg(14))
  if arg(15) ~= '' then
    set('d', arg(15))
  else
    gone[#gone + 1] = 'd'
  end
end
if arg(16) == '1' then
  set('y', num(head.seq))
  local large = { yh = arg(17), ya = arg(18) }
  -- The status and the metadata of a finished task are those of its last record.
  if not ends then
    large.ys, large.yd = arg(14), arg(15)
  else
    gone[#gone + 1] = 'ys'
    gone[#gone + 1] = 'yd'
  end
  for field, text in pairs(large) do
    if text ~= '' then
      set(field, text)
    else
      gone[#gone + 1] = field
    end
  end
end
if drops == 'all' then
  drop_turns(task, head)
elseif drops ~= '' then
  drop_turn(task, head, drops)
end

local is_due = false
if head.configs > 0 and count > 0 then
  is_due = mark_due(name, agent, now())
end
if ends then
  finish(name, head, now())
elseif arg(16) == '1' and head.bytes > tonumber(arg(19)) then
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
if #gone > 0 then
  call('HDEL', task, unpack(gone))
end
fields[2] = text_of(head)
call('HSET', task, unpack(fields))
if before then
  settle(task, name, agent, head, before)
end

if ends then
  -- The logs of the tasks that ended first go while all of them take too much.
  local sum = tonumber(call('HGET', base .. '${KEY.count}', 'logs'))
  for _ = 1, ${TRIMMED} do
    if sum <= tonumber(arg(20)) then
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
return { 1, waiting(head), is_due and 1 or 0 }
`;

/** Lua that removes the whole log of a finished task. Answers the bytes of the logs of all finished tasks. */
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

/** The head of a task with the records behind a sequence number, for an append that may be a repetition. */
export const TAIL = `
local known = call('HMGET', KEYS[1], 'h', 'n', 'c')
if not known[1] then
  return { num(now()), known, {} }
end
local missing = parse(known[1]).seq - tonumber(ARGV[3])
local records = missing > 0 and call('LRANGE', base .. '${KEY.log}' .. ARGV[2], num(-missing), -1) or {}
return { num(now()), known, records }
`;
