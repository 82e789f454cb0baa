import * as aiSdk from 'parley-a2a-ai-sdk';
import * as durableObject from 'parley-a2a-durable-object';
import * as grpc from 'parley-a2a-grpc';
import * as langgraph from 'parley-a2a-langgraph';
import * as mcp from 'parley-a2a-mcp';
import * as openaiAgents from 'parley-a2a-openai-agents';
import * as postgres from 'parley-a2a-postgres';
import * as redis from 'parley-a2a-redis';
import * as s3 from 'parley-a2a-s3';
import { expect, it } from 'vitest';
import { librariesBeside } from './packages.js';

/** All names that applications can import. A removed name breaks applications. */
const NAMES: Readonly<Record<string, readonly [module: object, names: readonly string[]]>> = {
  'ai-sdk': [
    aiSdk,
    [
      'MODEL_OUTPUT_EXTENSION',
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
  'openai-agents': [openaiAgents, ['openAIAgent']],
  postgres: [
    postgres,
    ['PostgresStorage', 'migratePostgres', 'openPostgresStorage', 'postgresBackend', 'postgresStatus'],
  ],
  redis: [redis, ['RedisCache', 'RedisStorage', 'openRedisCache', 'openRedisStorage', 'redisBackend', 'redisStatus']],
  s3: [s3, ['s3FileStore']],
};

it.each(Object.entries(NAMES))('parley-a2a-%s exports exactly these names', (_name, [module, names]) => {
  expect(Object.keys(module).sort()).toEqual(names);
});

it('has a row for each library beside the core', () => {
  expect(Object.keys(NAMES).sort()).toEqual([...librariesBeside()].sort());
});
