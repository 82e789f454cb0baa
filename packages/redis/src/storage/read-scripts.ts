import { KEY } from './redis-keys.js';

/** Reads a task with its records after the snapshot. Returns the time and the content. */
export const READ_TASK = `
local known = call('HGET', KEYS[1], 'h')
if not known then
  return { num(now()), false }
end
return { num(now()), content(KEYS[1], base .. '${KEY.log}' .. ARGV[2], parse(known)) }
`;

/**
 * Reads records after a sequence number, up to a number of bytes of their events. Returns floor, last number, and
 * records.
 */
export const READ_RECORDS = `
local known = call('HGET', KEYS[1], 'h')
if not known then
  return { '1', '0', {} }
end
local log, last = base .. '${KEY.log}' .. ARGV[2], parse(known).seq
local floor = last - call('LLEN', log) + 1
local at, left = math.max(0, tonumber(ARGV[3]) + 1 - floor), tonumber(ARGV[4])
local found, step, bytes = {}, 16, 0
while true do
  local records = call('LRANGE', log, num(at), num(at + step - 1))
  for _, record in ipairs(records) do
    local from = string.find(record, '\\n', 1, true)
    local to = string.find(record, '\\n', from + 1, true) or #record + 1
    bytes = bytes + to - from - 1
    if bytes > left and #found > 0 then
      return { num(floor), num(last), found }
    end
    found[#found + 1] = record
  end
  if #records < step then
    return { num(floor), num(last), found }
  end
  at, step = at + step, math.min(step * 2, 128)
end
`;

/** Lua that deletes a task with everything that belongs to it. */
export const REMOVE = `
local function remove(task, name, scope, agent, id, head)
  local context = call('HGET', task, 'c')
  local before = settled(head)
  head.held = 0
  head.queue = ''
  settle(task, name, agent, head, before)
  for _, config in ipairs(call('HKEYS', base .. '${KEY.configs}' .. name)) do
    drop_config(name, agent, head, config)
  end
  call('ZREM', base .. '${KEY.state}' .. head.state .. scope, id)
  call('ZREM', base .. '${KEY.made}' .. scope, id)
  if context then
    call('ZREM', base .. '${KEY.context}' .. scope .. context, id)
  end
  if is_interrupted(head.state) then
    call('ZREM', base .. '${KEY.waits}' .. agent, name)
  end
  if head.ended > 0 then
    call('ZREM', base .. '${KEY.ended}', name)
    if call('ZREM', base .. '${KEY.logs}', name) == 1 then
      call('HINCRBY', base .. '${KEY.count}', 'logs', num(-head.bytes))
    end
  end
  call('UNLINK', task, base .. '${KEY.log}' .. name)
end
`;

/** Deletes a task if its head is unchanged. ARGV: NAME, SCOPE, AGENT, the id, and the head. Returns 1 or 0. */
export const DELETE = `${REMOVE}
if call('HGET', KEYS[1], 'h') ~= ARGV[6] then
  return 0
end
remove(KEYS[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], parse(ARGV[6]))
return 1
`;

/** Reads the head of a task. */
export const READ_HEAD = "return call('HMGET', KEYS[1], 'h', 'n', 'c')";
