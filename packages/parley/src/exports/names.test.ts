import { expect, it } from 'vitest';
import * as client from './client.js';
import * as credentials from './credentials.js';
import * as express from './express.js';
import * as fastify from './fastify.js';
import * as index from './index.js';
import * as node from './node.js';
import * as nodeCredentials from './node-credentials.js';
import * as pino from './pino.js';
import * as redisCache from './redis-cache.js';
import * as schema from './schema.js';
import * as server from './server.js';
import * as sqlite from './sqlite.js';
import * as storage from './storage.js';

/** What applications may import. Changed on purpose only: a name that goes away breaks somebody. */
const NAMES = {
  client: [
    'A2AError',
    'AgentCardError',
    'Client',
    'ConnectionError',
    'IDEMPOTENT_SEND_EXTENSION',
    'STREAM_RESUME_EXTENSION',
    'TaskStream',
    'UnauthenticatedError',
    'connect',
    'fetchAgentCard',
    'joinedParts',
    'memoryCardCache',
    'textOf',
  ],
  credentials: [
    'CredentialsError',
    'SchemeCredentials',
    'apiKey',
    'authorizationCode',
    'basic',
    'bearerToken',
    'clientCredentials',
    'combinedCredentials',
    'deviceCode',
  ],
  express: ['toExpress'],
  fastify: ['toFastify'],
  index: [
    'A2AError',
    'ContentTypeNotSupportedError',
    'ERROR_CODES',
    'ExtendedAgentCardNotConfiguredError',
    'ExtensionSupportRequiredError',
    'InternalError',
    'InvalidAgentResponseError',
    'InvalidParamsError',
    'LOG_LEVELS',
    'OptionsError',
    'PermissionDeniedError',
    'PushNotificationNotSupportedError',
    'ROLES',
    'StorageError',
    'TASK_STATES',
    'TaskNotCancelableError',
    'TaskNotFoundError',
    'UnauthenticatedError',
    'UnsupportedOperationError',
    'VersionNotSupportedError',
    'isInterrupted',
    'isTerminal',
    'silentLogger',
    'textLogger',
  ],
  node: ['BearerTokens', 'OptionsError', 'createA2AHost', 'createA2AServer', 'readServerConfig'],
  pino: ['pinoLogger'],
  'redis-cache': ['RedisCache', 'openRedisCache'],
  schema: ['violationsOf'],
  'node-credentials': ['loopbackRedirect', 'mutualTls'],
  server: [
    'BaseRequestHandler',
    'BearerTokens',
    'DefaultRequestHandler',
    'IDEMPOTENT_SEND_EXTENSION',
    'MemoryCache',
    'MemoryStorage',
    'STREAM_RESUME_EXTENSION',
    'agent',
    'createAgentHandler',
    'systemClock',
    'systemIds',
    'toFetch',
  ],
  sqlite: ['SqliteStorage', 'migrateSqlite', 'openSqliteStorage', 'sqliteStatus', 'vacuumSqlite'],
  storage: [
    'LogRecord',
    'MemoryStorage',
    'OptionsError',
    'StorageError',
    'TaskBuilder',
    'TaskStore',
    'TaskStoreError',
    'createTaskStore',
    'openStorage',
  ],
};

it.each([
  ['credentials', credentials],
  ['client', client],
  ['express', express],
  ['fastify', fastify],
  ['index', index],
  ['node', node],
  ['node-credentials', nodeCredentials],
  ['pino', pino],
  ['redis-cache', redisCache],
  ['schema', schema],
  ['server', server],
  ['sqlite', sqlite],
  ['storage', storage],
] as const)('%s exports exactly these names', (name, module) => {
  expect(Object.keys(module).sort()).toEqual(NAMES[name]);
});
