import { BLOCKED_LUA } from './owner-scripts.js';
import { KEY } from './redis-keys.js';

/** Lua that reads and writes idempotency keys. A key is identified by its JSON. Only the sweep removes expired keys. */
export const KEY_LUA = `
-- The key as it stands. seen: changes with every write of the key. reply: the fields of KeptKey.
local function read_key(key, scope)
  local fields = call('HMGET', base .. '${KEY.key}' .. scope .. key, 'x', 'l', 'n', 'g', 't', 'u', 'r', 'v')
  if not fields[1] then
    return nil
  end
  local is_gone = fields[5] and call('EXISTS', base .. '${KEY.task}' .. fields[5]) == 0
  fields[9] = is_gone and 1 or 0
  return { seen = fields[8], reply = fields }
end
local function drop_key(member)
  call('DEL', base .. '${KEY.key}' .. member)
  call('ZREM', base .. '${KEY.keys}', member)
end
-- lease: -1 for a known outcome. task, turn and reply are empty if there is none.
local function put_key(key, scope, time, ttl, lease, node, digest, task, turn, reply)
  local member = scope .. key
  call('DEL', base .. '${KEY.key}' .. member)
  local expires = num(time + tonumber(ttl))
  local version = num(call('HINCRBY', base .. '${KEY.count}', 'place', 1))
  local fields = { 'x', expires, 'l', lease, 'n', node, 'g', digest, 'v', version }
  local function set(field, text)
    if text ~= '' then
      fields[#fields + 1] = field
      fields[#fields + 1] = text
    end
  end
  set('t', task)
  set('u', turn)
  set('r', reply)
  call('HSET', base .. '${KEY.key}' .. member, unpack(fields))
  call('ZADD', base .. '${KEY.keys}', expires, member)
end
`;

/**
 * Reserves a key, or stores the outcome of its message, if the key does not exist or is unchanged. Returns nil, or the
 * time and the current key. Returns only the time if the owner is blocked.
 */
export const WRITE_KEY = `${KEY_LUA}${BLOCKED_LUA}
local scope, key, ttl, digest, node, lease_ms, reply, seen =
  ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local time = now()
if is_blocked(scope, time) then
  return { num(time) }
end
local kept = read_key(key, scope)
if (kept and kept.seen or '') ~= seen then
  return { num(time), kept and kept.reply or false }
end
local lease = lease_ms ~= '' and num(time + tonumber(lease_ms)) or '-1'
put_key(key, scope, time, ttl, lease, node, digest, '', '', reply)
return false
`;

/** Reads a key. Returns the time and the key, if it exists. */
export const READ_KEY = `${KEY_LUA}
local kept = read_key(ARGV[3], ARGV[2])
return { num(now()), kept and kept.reply or false }
`;

/** Deletes the reservation of a node. */
export const UNRESERVE = `${KEY_LUA}
local kept = call('HMGET', base .. '${KEY.key}' .. ARGV[2] .. ARGV[3], 'l', 'n')
if kept[1] and kept[1] ~= '-1' and kept[2] == ARGV[4] then
  drop_key(ARGV[2] .. ARGV[3])
end
return false
`;
