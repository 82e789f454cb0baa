import { KEY } from './redis-keys.js';

/**
 * Lua that checks whether the owner of a scope is blocked. The fields of the hash are the texts of `ownerQueryText`, so
 * that names are compared as they are written.
 */
export const BLOCKED_LUA = `
local function is_blocked(scope, time)
  local blocks = base .. '${KEY.blocks}'
  if call('EXISTS', blocks) == 0 then
    return false
  end
  -- A comma and a quotation mark follow each other only between two texts of the JSON.
  local agent, tenant, owner = string.match(scope, '^%[(".-"),(".-"),(".*")%]$')
  if not agent then
    agent, tenant, owner = string.match(scope, '^%[(".-"),(".-"),(null)%]$')
  end
  local start = '[' .. owner .. ','
  local known = call('HMGET', blocks, start .. 'null,null]', start .. agent .. ',null]', start .. 'null,' .. tenant .. ']',
    start .. agent .. ',' .. tenant .. ']')
  for at = 1, 4 do
    if known[at] and tonumber(known[at]) > time then
      return true
    end
  end
  return false
end
`;

/** Blocks an owner in a partition. ARGV: the text of the query, and the duration in ms. */
export const BLOCK = `
local blocks, ms = base .. '${KEY.blocks}', tonumber(ARGV[3])
if ms <= 0 then
  call('HDEL', blocks, ARGV[2])
  return 1
end
call('HSET', blocks, ARGV[2], num(now() + ms))
-- The name of the owner does not stay if nobody ends the block.
call('PEXPIRE', blocks, num(ms + 60000))
return 1
`;

/** Returns the first tasks of a scope. ARGV: SCOPE and the count. */
export const OWNED_IDS = `return call('ZRANGE', base .. '${KEY.made}' .. ARGV[2], 0, num(tonumber(ARGV[3]) - 1))`;

/**
 * Erases a task in any state, even if its texts are damaged. Runs after REMOVE. ARGV: NAME, SCOPE, AGENT, id. Returns
 * 1.
 */
export const ERASE_TASK = `
local task, name, scope, agent, id = KEYS[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local known = call('HGET', task, 'h')
if known and string.match(known, HEAD) then
  remove(task, name, scope, agent, id, parse(known))
end
for _, key in ipairs({ '${KEY.log}', '${KEY.configs}', '${KEY.deliveries}' }) do
  call('UNLINK', base .. key .. name)
end
call('UNLINK', task)
for _, key in ipairs({ '${KEY.ended}', '${KEY.logs}', '${KEY.ready}' .. agent, '${KEY.lease}' .. agent, '${KEY.waits}' .. agent }) do
  call('ZREM', base .. key, name)
end
call('ZREM', base .. '${KEY.made}' .. scope, id)
return 1
`;

/** Deletes idempotency keys. Runs after KEY_LUA. ARGV: their members. */
export const ERASE_KEYS = `
for at = 2, #ARGV do
  drop_key(ARGV[at])
end
return #ARGV - 1
`;
