import { DROP_LOG } from './change-script.js';
import { KEY_LUA } from './key-lua.js';
import { REMOVE } from './read-scripts.js';
import { KEY } from './redis-keys.js';

/** Maximum number of finished tasks that one script reads, including those whose log a delivery needs. */
const LOOKED_AT = 500;

/** Checks whether a partition has anything to delete. ARGV: the ages of tasks and of logs. Returns 1 or 0. */
export const PEEK_SWEEP = `
local time = now()
local function has(key, from, to)
  return call('ZCOUNT', base .. key, from, to) > 0
end
local is_due = has('${KEY.keys}', '-inf', num(time)) or has('${KEY.ended}', '(' .. num(time), '+inf')
  or has('${KEY.ended}', '-inf', '(' .. num(time - tonumber(ARGV[2])))
  or has('${KEY.logs}', '-inf', '(' .. num(time - tonumber(ARGV[3])))
return is_due and 1 or 0
`;

/**
 * Deletes the rows of a partition past their retention: expired keys, then logs, then tasks. ARGV: the ages of tasks
 * and of logs, and the maximum number of rows. Returns the numbers of tasks, records and keys.
 */
export const SWEEP = `${DROP_LOG}${REMOVE}${KEY_LUA}
local time, left = now(), tonumber(ARGV[4])
local tasks_before = num(time - tonumber(ARGV[2]))
local logs_before = num(time - tonumber(ARGV[3]))
local tasks, records, keys = 0, 0, 0

-- No task has ended later than now: what a clock that was ahead has written is put right.
for _, name in ipairs(call('ZRANGE', base .. '${KEY.ended}', '(' .. num(time), '+inf', 'BYSCORE', 'LIMIT', 0,
  ${LOOKED_AT})) do
  local task = base .. '${KEY.task}' .. name
  local head = parse(call('HGET', task, 'h'))
  head.ended = time
  call('HSET', task, 'h', text_of(head))
  call('ZADD', base .. '${KEY.ended}', num(time), name)
  call('ZADD', base .. '${KEY.logs}', 'XX', num(time), name)
end

for _, member in ipairs(call('ZRANGE', base .. '${KEY.keys}', '-inf', num(time), 'BYSCORE', 'LIMIT', 0, left)) do
  drop_key(member)
  keys = keys + 1
  left = left - 1
end

local function has_pending(name)
  for _, head in ipairs(call('HVALS', base .. '${KEY.deliveries}' .. name)) do
    local _, due = string.match(head, DELIVERY)
    if due ~= '-1' then
      return true
    end
  end
  return false
end
-- Removes so many records as may go. True if all are gone.
local function drop_records(name)
  local log = base .. '${KEY.log}' .. name
  local count = call('LLEN', log)
  if count <= left then
    drop_log(name)
    records = records + count
    left = left - count
    return true
  end
  local task = base .. '${KEY.task}' .. name
  local head = parse(call('HGET', task, 'h'))
  -- About the bytes of the records that go.
  local bytes = math.floor(head.bytes * left / count)
  call('LTRIM', log, num(left), -1)
  head.bytes = head.bytes - bytes
  call('HSET', task, 'h', text_of(head))
  call('HINCRBY', base .. '${KEY.count}', 'logs', num(-bytes))
  records = records + left
  left = 0
  return false
end

local old = call('ZRANGE', base .. '${KEY.logs}', '-inf', '(' .. logs_before, 'BYSCORE', 'LIMIT', 0, ${LOOKED_AT},
  'WITHSCORES')
for at = 1, #old, 2 do
  if left <= 0 then
    break
  end
  -- A pending delivery keeps the log of its task as long as the task stays.
  if tonumber(old[at + 1]) < tonumber(tasks_before) or not has_pending(old[at]) then
    drop_records(old[at])
  end
end

for _, name in ipairs(call('ZRANGE', base .. '${KEY.ended}', '-inf', '(' .. tasks_before, 'BYSCORE', 'LIMIT', 0,
  ${LOOKED_AT})) do
  if left <= 0 or not drop_records(name) or left <= 0 then
    break
  end
  local task = base .. '${KEY.task}' .. name
  remove(task, name, scope_of(name), agent_of(name), cjson.decode(name)[4], parse(call('HGET', task, 'h')))
  tasks = tasks + 1
  left = left - 1
end
return { tasks, records, keys, num(time) }
`;
