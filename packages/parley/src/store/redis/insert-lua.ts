import { KEY } from './redis-keys.js';

/**
 * Lua that puts a new task there with its first record, and lists it. `at`: the place in ARGV of the fields that
 * `newTaskFields` gives. The caller writes the head.
 */
export const INSERT = `
local function insert(task, name, scope, agent, id, at, time)
  local context, state, since, status, metadata, ended, history, artifacts, event =
    ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6],
    ARGV[at + 7], ARGV[at + 8]
  local head = {
    version = 0, seq = 1, epoch = 0, turns = 0, began = 0, held = 0, lease = 0, state = state, since = since,
    made = time, ended = 0, bytes = #event, configs = 0, queue = '',
  }
  local fields = { 's', status }
  local function set(field, text)
    if text ~= '' then
      fields[#fields + 1] = field
      fields[#fields + 1] = text
    end
  end
  set('c', context)
  set('d', metadata)
  if ended == '1' then
    set('y', '1')
    set('yh', history)
    set('ya', artifacts)
  end
  call('HSET', task, unpack(fields))
  call('RPUSH', base .. '${KEY.log}' .. name, event)
  call('ZADD', base .. '${KEY.made}' .. scope, num(time), id)
  list(name, scope, agent, id, head, context ~= '' and context, nil)
  if ended == '1' then
    finish(name, head, time)
  end
  return head
end
`;
