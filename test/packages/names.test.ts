import * as aiSdk from 'parley-a2a-ai-sdk';
import * as capnweb from 'parley-a2a-capnweb';
import * as durableObject from 'parley-a2a-durable-object';
import * as grpc from 'parley-a2a-grpc';
import * as langgraph from 'parley-a2a-langgraph';
import * as mcp from 'parley-a2a-mcp';
import * as mutualTls from 'parley-a2a-mutual-tls';
import * as openaiAgents from 'parley-a2a-openai-agents';
import * as otel from 'parley-a2a-otel';
import * as pino from 'parley-a2a-pino';
import * as postgres from 'parley-a2a-postgres';
import * as redis from 'parley-a2a-redis';
import * as s3 from 'parley-a2a-s3';
import * as signing from 'parley-a2a-signing';
import * as testing from 'parley-a2a-testing';
import { expect, it } from 'vitest';
import { librariesBeside } from './packages.js';

/** All names that applications can import. A removed name breaks applications. */
const NAMES: Readonly<Record<string, readonly [module: object, names: readonly string[]]>> = {
  'ai-sdk': [
    aiSdk,
    [
      'MODEL_OUTPUT_EXTENSION',
      'a2aChatHandler',
      'a2aChatTransport',
      'a2aLanguageModel',
      'a2aProvider',
      'a2aTool',
      'asksAgain',
      'fromStreamText',
      'streamTextAgent',
      'toAiTools',
      'toModelMessages',
    ],
  ],
  capnweb: [
    capnweb,
    [
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
  ],
  'durable-object': [durableObject, ['DurableObjectStorage', 'durableObjectStorage']],
  grpc: [grpc, ['grpcBinding', 'grpcTransport']],
  langgraph: [langgraph, ['langGraphAgent', 'threadIdOf']],
  mcp: [
    mcp,
    [
      'CONTEXT_ID_META',
      'McpEndpoint',
      'McpQuestionError',
      'McpTools',
      'TASK_ID_META',
      'mcpEndpointOf',
      'mcpServerOf',
      'mcpTools',
      'serveMcpStdio',
    ],
  ],
  'mutual-tls': [mutualTls, ['mutualTls']],
  'openai-agents': [openaiAgents, ['openAIAgent']],
  otel: [otel, ['DRAFT_REVISION', 'addTraceIds', 'clientTracing', 'serverTracing']],
  pino: [pino, ['pinoLogger']],
  postgres: [postgres, ['migratePostgres', 'openPostgresStorage', 'postgresBackend', 'postgresStatus']],
  redis: [redis, ['openRedisCache', 'openRedisStorage', 'redisBackend', 'redisStatus']],
  s3: [s3, ['s3FileStore']],
  signing: [
    signing,
    [
      'ENCRYPTION_EXTENSION',
      'SIGNING_EXTENSION',
      'UntrustedContentError',
      'messageSigning',
      'signedCalls',
      'verifiedSigners',
      'verifySigned',
    ],
  ],
  testing: [
    testing,
    [
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
  ],
};

it.each(Object.entries(NAMES))('parley-a2a-%s exports exactly these names', (_name, [module, names]) => {
  expect(Object.keys(module).sort()).toEqual(names);
});

it('has a row for each library beside the core', () => {
  expect(Object.keys(NAMES).sort()).toEqual([...librariesBeside()].sort());
});
