import { ACCEPT, CREATE } from './accept-script.js';
import { APPEND, APPEND_CHUNKS, DROP_LOG, TAIL } from './append-script.js';
import {
  CLAIM_DELIVERIES,
  DELETE_CONFIG,
  LIST_DELIVERIES,
  PEEK_DELIVERIES,
  PUT_CONFIG,
  READ_CONFIGS,
  READ_DELIVERY,
  WRITE_DELIVERY,
} from './delivery-scripts.js';
import { READ_KEY, UNRESERVE, WRITE_KEY } from './key-lua.js';
import { ABANDONED, COUNT, LIST } from './list-scripts.js';
import { luaPrelude, SERVER_TIME } from './lua-prelude.js';
import { DELETE, READ_HEAD, READ_RECORDS, READ_TASK } from './read-scripts.js';
import { CHECK, HEARTBEAT, NOW, READ_NODES } from './redis-processes.js';
import { type RedisScript, redisScript } from './redis-script.js';
import { PEEK_SWEEP, SWEEP } from './sweep-script.js';
import { CANCEL, CLAIM, HELD, PEEK } from './turn-scripts.js';

/** The bodies of all scripts; each one runs behind the prelude. */
const BODIES = {
  accept: ACCEPT,
  create: CREATE,
  append: DROP_LOG + APPEND,
  tail: TAIL,
  claim: CLAIM,
  peek: PEEK,
  held: HELD,
  cancel: CANCEL,
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
  putConfig: PUT_CONFIG,
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
} as const;

/** The scripts of a storage. */
export type RedisScripts = Readonly<Record<keyof typeof BODIES, RedisScript>>;

/** Makes the scripts. `time`: Lua for the storage's time; tests replace it. */
export function redisScripts(time = SERVER_TIME): RedisScripts {
  const prelude = luaPrelude(time);
  const entries = Object.entries(BODIES).map(([name, body]) => {
    const first = name === 'append' ? APPEND_CHUNKS : '';
    return [name, redisScript(first + prelude + body)] as const;
  });
  return Object.fromEntries(entries) as unknown as RedisScripts;
}
