import { describe, expect, it } from 'vitest';
import * as agentCalls from './agent-calls.js';
import * as auth from './auth.js';
import * as capnweb from './capnweb.js';
import * as client from './client.js';
import * as credentials from './credentials.js';
import * as express from './express.js';
import * as fastify from './fastify.js';
import * as files from './files.js';
import * as hono from './hono.js';
import * as index from './index.js';
import * as node from './node.js';
import * as pino from './pino.js';
import * as postgres from './postgres.js';
import * as pushReceiver from './push-receiver.js';
import * as redis from './redis.js';
import * as redisCache from './redis-cache.js';
import * as schemas from './schemas.js';
import * as server from './server.js';
import * as signing from './signing.js';
import * as sqlite from './sqlite.js';
import * as storage from './storage.js';
import * as storageEngine from './storage-engine.js';
import * as testing from './testing.js';
import * as tools from './tools.js';
import * as v0_3 from './v0_3.js';
import * as validation from './validation.js';
import * as web from './web.js';

/** All names that applications can import. A removed name breaks applications. */
const NAMES = {
  'agent-calls': ['AGENT_CALLS_EXTENSION', 'AgentCallError', 'agentCalls'],
  capnweb: [
    'CAPNWEB_BATCH_BINDING',
    'CAPNWEB_BINDING',
    'CapnwebAgent',
    'CapnwebFeed',
    'CapnwebTask',
    'LoggingCallback',
    'capnwebBinding',
    'capnwebTransport',
    'connectCapnweb',
  ],
  files: [
    'FILES_EXTENSION',
    'UploadOffsetError',
    'countedBytes',
    'directoryFileStore',
    'fileTransfer',
    'isFileId',
    'memoryFileStore',
  ],
  client: [
    'A2AError',
    'AgentCardError',
    'Client',
    'ConnectionError',
    'FILES_EXTENSION',
    'IDEMPOTENT_SEND_EXTENSION',
    'STREAM_RESUME_EXTENSION',
    'TaskStream',
    'UnauthenticatedError',
    'connect',
    'downloadFile',
    'fetchAgentCard',
    'fileEndpoint',
    'isOwnUrl',
    'joinedParts',
    'memoryCardCache',
    'textOf',
    'uploadFile',
  ],
  auth: [
    'ANONYMOUS',
    'ApiKeys',
    'BasicUsers',
    'BearerTokens',
    'ClientCertificates',
    'JwtBearer',
    'OAuth2',
    'OpenIdConnect',
    'allOf',
    'anyOf',
    'hashPassword',
    'mayUseSkill',
    'optional',
    'requireScopes',
    'tokenAuthenticator',
    'userId',
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
    'credentialedFetch',
    'deviceCode',
    'discoverEndpoints',
    'isSecretName',
    'redactor',
    'shownUrl',
    'urlSecrets',
  ],
  express: ['toExpress'],
  fastify: ['toFastify'],
  hono: ['toHono'],
  index: [
    'A2AError',
    'AgentCardError',
    'Client',
    'ConnectionError',
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
    'RefusedAddressError',
    'StorageError',
    'TASK_STATES',
    'TaskNotCancelableError',
    'TaskNotFoundError',
    'TaskStream',
    'UnauthenticatedError',
    'UnsupportedOperationError',
    'VersionNotSupportedError',
    'agent',
    'canCheckAddresses',
    'connect',
    'createA2AHost',
    'createA2AServer',
    'createAgentHandler',
    'fetchAgentCard',
    'guardedFetch',
    'isInterrupted',
    'isTerminal',
    'joinedParts',
    'openStorage',
    'readServerConfig',
    'shownLine',
    'shownText',
    'silentLogger',
    'textLogger',
    'textOf',
  ],
  node: [
    'OptionsError',
    'apiKeysFile',
    'basicUsersFile',
    'createA2AHost',
    'createA2AServer',
    'credentialAuthenticator',
    'exportOwner',
    'isLocalHost',
    'loopbackRedirect',
    'mutualTls',
    'openAuditFile',
    'parseRate',
    'readCardKeys',
    'readServerConfig',
    'signCard',
  ],
  pino: ['pinoLogger'],
  postgres: ['PostgresStorage', 'migratePostgres', 'openPostgresStorage', 'postgresStatus'],
  'push-receiver': ['OptionsError', 'PushReceiver'],
  redis: ['RedisStorage', 'openRedisStorage', 'redisStatus'],
  'redis-cache': ['RedisCache', 'openRedisCache'],
  schemas: ['SCHEMAS_EXTENSION', 'agentSchemas'],
  signing: [
    'ENCRYPTION_EXTENSION',
    'SIGNING_EXTENSION',
    'UntrustedContentError',
    'messageSigning',
    'signedCalls',
    'verifiedSigners',
    'verifySigned',
  ],
  server: [
    'A2AError',
    'AuthorizationError',
    'BaseRequestHandler',
    'DefaultRequestHandler',
    'IDEMPOTENT_SEND_EXTENSION',
    'MemoryCache',
    'MemoryStorage',
    'STREAM_RESUME_EXTENSION',
    'TurnAbortedError',
    'agent',
    'createAgentHandler',
    'inProcess',
    'systemClock',
    'systemIds',
    'toFetch',
  ],
  v0_3: ['ERROR_CODES', 'TASK_STATES'],
  sqlite: ['SqliteStorage', 'migrateSqlite', 'openSqliteStorage', 'sqliteStatus', 'vacuumSqlite'],
  storage: [
    'LogRecord',
    'MemoryStorage',
    'OptionsError',
    'ScopedTasks',
    'StorageError',
    'TaskBuilder',
    'TaskStoreError',
    'copyStorage',
    'countOwner',
    'eraseOwner',
    'openStorage',
    'resealConfigs',
    'scopedTasks',
  ],
  'storage-engine': [
    'LocalStorage',
    'LogRecord',
    'PageBudget',
    'REMEMBERED_BYTES',
    'REMEMBERED_LIMIT',
    'REMEMBERED_SHARES',
    'StorageError',
    'TASK_STATES',
    'TaskBuilder',
    'boundsOf',
    'deliveryHeadOf',
    'deliveryValues',
    'firstBytes',
    'isInterrupted',
    'isLogSwept',
    'isTerminal',
    'isWithin',
    'mergedCancel',
    'nextPlace',
    'olderHalf',
    'pageOf',
    'shownQueue',
    'shownTask',
    'statusTime',
    'systemClock',
  ],
  tools: [
    'AnswerNeededError',
    'ApprovalNeededError',
    'DEFAULT_TOOL_LIMITS',
    'OptionsError',
    'TOOLS_CARD_EXTENSION',
    'TOOLS_EXTENSION',
    'ToolError',
    'ToolRegistry',
    'answerApprovals',
    'answerQuestion',
    'defineTool',
    'jsonSchema',
    'runTools',
    'toolAgent',
    'toolApprovals',
    'toolCalls',
    'toolEventsOf',
    'toolQuestions',
  ],
  testing: [
    'CountingIds',
    'EventCollector',
    'ProtocolAssertionError',
    'TestClock',
    'WaitTimeoutError',
    'assertAllProtocolInvariants',
    'assertChronologicalOrdering',
    'assertConsistentIdPropagation',
    'assertTaskCreationAndWorkingStatus',
    'assertTaskFinalState',
    'assertToolLifecycle',
    'assertUniqueFinalEventIsLast',
    'assertValidArtifactUpdates',
    'crashAndResume',
    'createFilePart',
    'createTestArtifact',
    'createTestAuthCredentials',
    'createTestMessage',
    'createTestMessageWithParts',
    'createTestMessages',
    'createTestTask',
    'createTextPart',
    'runAgent',
    'testAgent',
    'wait',
    'waitFor',
  ],
  validation: ['violationsOf'],
};

it.each([
  ['agent-calls', agentCalls],
  ['capnweb', capnweb],
  ['credentials', credentials],
  ['capnweb', capnweb],
  ['client', client],
  ['express', express],
  ['fastify', fastify],
  ['files', files],
  ['hono', hono],
  ['index', index],
  ['node', node],
  ['pino', pino],
  ['auth', auth],
  ['postgres', postgres],
  ['push-receiver', pushReceiver],
  ['redis', redis],
  ['redis-cache', redisCache],
  ['schemas', schemas],
  ['signing', signing],
  ['server', server],
  ['sqlite', sqlite],
  ['storage', storage],
  ['storage-engine', storageEngine],
  ['tools', tools],
  ['testing', testing],
  ['v0_3', v0_3],
  ['validation', validation],
] as const)('%s exports exactly these names', (name, module) => {
  expect(Object.keys(module).sort()).toEqual(NAMES[name]);
});

describe('the root of the package', () => {
  it('has the same names where there is no Node.js', () => {
    expect(Object.keys(web).sort()).toEqual(NAMES.index);
  });

  it('is all that an ordinary server and its client import', async () => {
    const server = index.createA2AServer({ agent: (prompt) => `Echo: ${prompt}`, logger: index.silentLogger });
    const { url } = await server.listen(0);
    try {
      const answer = await (await index.connect(url)).ask('hello');
      expect(answer.task !== undefined && index.textOf(answer.task)).toBe('Echo: hello');
    } finally {
      await server.close();
    }
  });

  it('says elsewhere which names need Node.js', async () => {
    const { createA2AServer, createA2AHost, readServerConfig, openStorage, OptionsError } = web;
    const agent = (prompt: string) => prompt;
    const says = 'needs Node.js, Deno or Bun. Use createAgentHandler here';
    expect(() => createA2AServer({ agent })).toThrow(new OptionsError('createA2AServer', [says]));
    expect(() => createA2AHost({ agents: { '/': { agent } } })).toThrow(says);
    expect(() => readServerConfig({})).toThrow(says);
    await expect(openStorage('memory:')).rejects.toThrow(says);
  });
});
