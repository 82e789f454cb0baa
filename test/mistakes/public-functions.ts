import * as root from 'parley-a2a';
import * as agentCalls from 'parley-a2a/agent-calls';
import * as auth from 'parley-a2a/auth';
import * as client from 'parley-a2a/client';
import * as credentials from 'parley-a2a/credentials';
import * as express from 'parley-a2a/express';
import * as fastify from 'parley-a2a/fastify';
import * as files from 'parley-a2a/files';
import * as hono from 'parley-a2a/hono';
import * as node from 'parley-a2a/node';
import * as operator from 'parley-a2a/operator';
import * as pushReceiver from 'parley-a2a/push-receiver';
import * as schemas from 'parley-a2a/schemas';
import * as server from 'parley-a2a/server';
import * as sqlite from 'parley-a2a/sqlite';
import * as storage from 'parley-a2a/storage';
import * as tools from 'parley-a2a/tools';
import * as validation from 'parley-a2a/validation';
import * as aiSdk from 'parley-a2a-ai-sdk';
import * as capnweb from 'parley-a2a-capnweb';
import * as grpc from 'parley-a2a-grpc';
import * as langgraph from 'parley-a2a-langgraph';
import * as mcp from 'parley-a2a-mcp';
import * as openaiAgents from 'parley-a2a-openai-agents';
import * as otel from 'parley-a2a-otel';
import * as pino from 'parley-a2a-pino';
import * as postgres from 'parley-a2a-postgres';
import * as redis from 'parley-a2a-redis';
import * as s3 from 'parley-a2a-s3';
import * as signing from 'parley-a2a-signing';
import * as testing from 'parley-a2a-testing';

const MODULES: readonly object[] = [
  ...[root, agentCalls, auth, capnweb, client, credentials, express, fastify, files, hono, node, operator],
  ...[pino, postgres, pushReceiver, redis, schemas, server, signing, sqlite, validation],
  ...[storage, testing, tools, aiSdk, grpc, langgraph, mcp, openaiAgents, otel, s3],
];

/** Classes whose objects the library makes, parts of storages for authors of their own, and classes of errors. */
const MADE = new Set([
  ...['BaseRequestHandler', 'CapnwebAgent', 'CapnwebFeed', 'CapnwebTask', 'Client', 'DefaultRequestHandler'],
  ...['LogRecord', 'LoggingCallback', 'McpEndpoint', 'McpTools', 'MemoryCache', 'PostgresStorage', 'RedisCache'],
  ...['RedisStorage', 'SchemeCredentials', 'ScopedTasks', 'SqliteStorage', 'TaskBuilder', 'TaskStream'],
]);

/** Functions that accept every value: they return false for an invalid one, or fill in missing members. */
const TOTAL = new Set([
  ...[
    'canCheckAddresses',
    'quotaBytes',
    'fileEndpoint',
    'isFileId',
    'isInterrupted',
    'isOwnUrl',
    'isSecretName',
    'isTerminal',
    'memoryCardCache',
  ],
  ...[
    'printableLine',
    'printableText',
    'printableUrl',
    'traceIdOf',
    'usageIn',
    'urlSecrets',
    'verifiedSigners',
    'isLocalHost',
    'violationsOf',
  ],
  ...['CountingIds', 'TestClock', 'createTestArtifact', 'createTestMessage', 'createTestTask', 'createTextPart'],
]);

/** The functions and classes of all subpaths that a wrong argument can reach. */
export const PUBLIC_FUNCTIONS: readonly (readonly [name: string, call: (argument: unknown) => unknown])[] = [
  ...new Map(MODULES.flatMap((module) => Object.entries(module))).entries(),
]
  .filter(([name, value]) => typeof value === 'function' && !/Error$/.test(name) && !MADE.has(name) && !TOTAL.has(name))
  .map(([name, value]) => [name, callOf(value)]);

function callOf(value: { new (argument: unknown): unknown } & ((argument: unknown) => unknown)) {
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  return (argument: unknown): unknown => (isClass ? new value(argument) : value(argument));
}
