import { PARTITIONS } from 'parley-a2a/storage-engine';
import { CHANGE, CHANGE_CHUNKS, LOAD } from './change-script.js';
import {
  CLAIM_DELIVERIES,
  DELETE_CONFIG,
  LIST_DELIVERIES,
  PEEK_DELIVERIES,
  READ_CONFIGS,
  READ_DELIVERY,
  REWRITE_CONFIG,
  WRITE_DELIVERY,
} from './delivery-scripts.js';
import { KEY_LUA, READ_KEY, UNRESERVE, WRITE_KEY } from './key-lua.js';
import { ABANDONED, COUNT, LIST } from './list-scripts.js';
import { luaPrelude, SERVER_TIME } from './lua-prelude.js';
import { BLOCK, ERASE_KEYS, ERASE_TASK, OWNED_IDS } from './owner-scripts.js';
import { DELETE, READ_HEAD, READ_RECORDS, READ_TASK, REMOVE } from './read-scripts.js';
import { CHECK, HEARTBEAT, NOW, READ_NODES } from './redis-processes.js';
import { type RedisScript, redisScript } from './redis-script.js';
import { PEEK_SWEEP, SWEEP } from './sweep-script.js';
import { PUT_KEY, PUT_TASK } from './transfer-scripts.js';
import { CLAIM, PEEK, SET_ASIDE } from './turn-scripts.js';

/** The bodies of all scripts; each one runs after the prelude. */
const BODIES = {
  change: CHANGE,
  load: LOAD,
  claim: CLAIM,
  peek: PEEK,
  setAside: SET_ASIDE,
  head: READ_HEAD,
  readTask: READ_TASK,
  readRecords: READ_RECORDS,
  delete: DELETE,
  writeKey: WRITE_KEY,
  readKey: READ_KEY,
  unreserve: UNRESERVE,
  peekDeliveries: PEEK_DELIVERIES,
  claimDeliveries: CLAIM_DELIVERIES,
  readDelivery: READ_DELIVERY,
  writeDelivery: WRITE_DELIVERY,
  listDeliveries: LIST_DELIVERIES,
  rewriteConfig: REWRITE_CONFIG,
  readConfigs: READ_CONFIGS,
  deleteConfig: DELETE_CONFIG,
  list: LIST,
  count: COUNT,
  abandoned: ABANDONED,
  peekSweep: PEEK_SWEEP,
  sweep: SWEEP,
  now: NOW,
  heartbeat: HEARTBEAT,
  readNodes: READ_NODES,
  check: CHECK,
  block: BLOCK,
  ownedIds: OWNED_IDS,
  eraseTask: REMOVE + ERASE_TASK,
  eraseKeys: KEY_LUA + ERASE_KEYS,
  putTask: PUT_TASK,
  putKey: PUT_KEY,
} as const;

/** The scripts that run for each partition. */
const LOOKS = [
  'peek',
  'peekDeliveries',
  'peekSweep',
  'check',
  'block',
] as const satisfies readonly (keyof typeof BODIES)[];

/** A script that runs for each partition. */
export type Look = (typeof LOOKS)[number];

/** The scripts of a storage. `every`: the scripts for all partitions of one server, in one script each. */
export interface RedisScripts {
  readonly one: Readonly<Record<keyof typeof BODIES, RedisScript>>;
  readonly every: Readonly<Record<Look, RedisScript>>;
}

/** Makes the scripts. `time`: Lua for the storage's time; tests replace it. */
export function redisScripts(time = SERVER_TIME): RedisScripts {
  const prelude = luaPrelude(time);
  const one = Object.entries(BODIES).map(([name, body]) => {
    const first = name === 'change' ? CHANGE_CHUNKS : '';
    return [name, redisScript(first + prelude + body)] as const;
  });
  const every = LOOKS.map((name) => [name, redisScript(prelude + everyPartition(BODIES[name]))] as const);
  return { one: Object.fromEntries(one), every: Object.fromEntries(every) } as unknown as RedisScripts;
}

/** Returns Lua that runs a body for each partition. `ARGV[1]` is the prefix of the keys of partition 0. */
function everyPartition(body: string): string {
  return `
local function look()
${body}
end
local start, answers = string.sub(base, 1, -3), {}
for partition = 0, ${PARTITIONS - 1} do
  base = start .. partition .. '}'
  answers[partition + 1] = look() or false
end
return answers
`;
}
