import { importsOf } from './imports.js';
import type { SourceFile, SourceTree, Violation } from './source-tree.js';

/** Imports that a room may have. */
export interface RoomRule {
  /** Rooms to the left: a whole room (`model`), or one file or folder of it (`codec/wire-codec`). */
  readonly rooms: readonly string[];
  /** Modules outside of the library: npm packages and modules of Node.js. */
  readonly modules?: readonly string[];
}

const VALUES = ['runtime', 'model', 'errors', 'telemetry', 'options'];

/**
 * The rooms of the library from left to right, with their allowed imports. An entry such as `store/sqlite` overrides
 * the entry of its room for the files below it.
 */
export const ROOMS: Readonly<Record<string, RoomRule>> = {
  runtime: { rooms: [] },
  model: { rooms: [], modules: ['typebox'] },
  errors: { rooms: [] },
  telemetry: { rooms: [] },
  options: { rooms: ['model', 'errors'] },
  operations: { rooms: ['model', 'errors'] },
  task: { rooms: ['runtime', 'model', 'errors', 'telemetry'] },
  net: { rooms: ['runtime', 'errors', 'telemetry', 'options'] },
  secrets: { rooms: ['errors'] },
  openapi: { rooms: ['model'] },
  codec: { rooms: ['model', 'errors', 'operations', 'task', 'openapi'] },
  store: { rooms: [...VALUES, 'secrets', 'task'] },
  'store/remote': { rooms: [...VALUES, 'task'], modules: ['node:crypto', 'node:fs', 'node:net'] },
  'store/sqlite': {
    rooms: [...VALUES, 'task'],
    modules: ['node:sqlite', 'node:worker_threads', 'node:fs', 'node:path', 'node:url', 'node:v8'],
  },
  cache: { rooms: ['runtime', 'errors', 'telemetry'] },
  auth: { rooms: [...VALUES, 'net', 'secrets'] },
  'auth/oauth': { rooms: [...VALUES, 'net'], modules: ['oauth4webapi'] },
  'auth/tokens': { rooms: [...VALUES, 'net'], modules: ['jose', 'oauth4webapi'] },
  files: { rooms: ['runtime', 'errors', 'options', 'store/owner-query'] },
  'files/directory': {
    rooms: ['runtime', 'errors', 'options', 'store/owner-query'],
    modules: ['node:fs', 'node:path', 'node:crypto'],
  },
  'user-data': {
    rooms: [
      ...VALUES,
      'task/log-record',
      'task/shaped-task',
      'store/owner-query',
      'store/owner-storage',
      'store/push-storage',
      'store/task-key',
      'store/task-storage',
      'files/file-store',
      'files/owner-files',
    ],
  },
  'agent-card': { rooms: [...VALUES, 'operations', 'net', 'codec/wire-codec'] },
  'agent-card/signatures': { rooms: [...VALUES, 'net'], modules: ['jose'] },
  server: {
    rooms: [
      ...VALUES,
      'operations',
      'task',
      'secrets/recipient',
      'store/caller-context',
      'store/held-turn',
      'store/idempotency-keys',
      'store/intercepted-storage',
      'store/push-storage',
      'store/task-key',
      'store/task-storage',
      'store/scoped-tasks',
      'auth/user',
      'auth/authenticator',
    ],
  },
  tools: {
    rooms: [
      ...VALUES,
      'auth/user',
      'server/agent-executor',
      'server/request-context',
      'server/event-queue',
      'server/own-part',
      'server/turn-aborted-error',
    ],
    modules: ['typebox'],
  },
  client: { rooms: [...VALUES, 'files/digester', 'operations', 'task', 'net', 'codec', 'auth', 'agent-card'] },
  schemas: {
    rooms: [
      ...VALUES,
      'operations',
      'server/agent-executor',
      'server/event-queue',
      'server/map-handler',
      'server/open-lazily',
      'server/own-part',
      'server/readable-message',
      'server/request-context',
      'server/request-handler',
      'server/server-call-context',
      'tools/open-questions',
    ],
    modules: ['typebox'],
  },
  'agent-calls': {
    rooms: [
      ...VALUES,
      'operations',
      'task',
      'auth/credential-provider',
      'auth/user',
      'client',
      'server/agent-call',
      'server/event-queue',
      'server/execution/turn-course',
      'server/turn-ports',
    ],
  },
  push: {
    rooms: [
      ...VALUES,
      'task',
      'net',
      'codec/wire-codec',
      'store/task-key',
      'store/task-storage',
      'store/push-storage',
      'auth/webhook-credentials',
      'server/push-registration',
    ],
  },
  'push/receiver': { rooms: [...VALUES, 'net', 'codec', 'auth'] },
  'push/signatures': { rooms: ['errors', 'runtime'], modules: ['jose'] },
  bindings: {
    rooms: [
      ...VALUES,
      'operations',
      'task',
      'openapi',
      'net/frame-parser',
      'net/redirects',
      'codec/wire-codec',
      'codec/wire-schemas',
      'auth',
      'server/request-handler',
      'server/server-call-context',
      'server/authorization',
      'codec/client-codec',
      'client/client-transport',
      'client/document-source',
    ],
  },
  'bindings/direct': {
    rooms: [...VALUES, 'operations', 'task', 'codec/wire-codec', 'auth/client-certificate', 'auth/user'],
  },
  'bindings/in-process': {
    rooms: [...VALUES, 'operations', 'task', 'auth/challenge', 'auth/user', 'client/client-transport'],
  },
  app: {
    rooms: [
      ...VALUES,
      'operations',
      'task/artifact-end',
      'task/stream-item',
      'task/token-usage',
      'net',
      'secrets',
      'openapi',
      'codec',
      'store/rate-counters',
      'store/sealed-storage',
      'store/task-storage',
      'store/task-store',
      'files',
      'cache/answer-cache',
      'cache/read-through',
      'auth',
      'agent-card',
      'server',
      'schemas',
      'agent-calls',
      'client/call-options',
      'client/client',
      'push',
      'bindings',
    ],
    // Options use `options/option-types.ts`, with the same functions as TypeBox.
    modules: [],
  },
  // It reads what storages have of all owners.
  'app/operator': {
    rooms: [...VALUES, 'net', 'openapi', 'auth', 'store', 'task/status-time', 'push', 'bindings'],
  },
  adapters: { rooms: [...VALUES, 'bindings/http', 'app'] },
  'adapters/node': {
    rooms: [
      ...VALUES,
      'net',
      'auth/credentials',
      'auth/client-certificate',
      'auth/x509-certificate',
      'user-data',
      'push/receiver',
      'bindings/http',
      'app',
    ],
    modules: [
      'node:async_hooks',
      'node:dns',
      'node:fs',
      'node:http',
      'node:https',
      'node:net',
      'node:path',
      'node:perf_hooks',
      'node:process',
      'node:stream',
      'node:tls',
    ],
  },
  'adapters/express': { rooms: [...VALUES, 'bindings/http', 'app'], modules: ['express'] },
  'adapters/fastify': { rooms: [...VALUES, 'bindings/http', 'app'], modules: ['node:stream', 'fastify'] },
  exports: {
    rooms: [
      ...VALUES,
      'operations',
      'task',
      'net',
      'secrets',
      'codec',
      'store',
      'files',
      'user-data',
      'cache',
      'auth',
      'agent-card',
      'server',
      'tools',
      'client',
      'schemas',
      'agent-calls',
      'push',
      'bindings',
      'app',
      'adapters',
    ],
    modules: [
      'node:child_process',
      'node:cluster',
      'node:crypto',
      'node:fs',
      'node:os',
      'node:path',
      'node:url',
      'node:worker_threads',
      'express',
      'fastify',
    ],
  },
};

/** Folders whose siblings must not import each other, except for the named ones. */
const SIBLINGS: Readonly<Record<string, readonly string[]>> = {
  bindings: ['http', 'direct'],
  // All storages have this engine and its rules; DECIDING says who may ask them.
  store: ['rules', 'engine'],
  cache: [],
  // Express and Fastify use node:http, Hono uses the web's Request.
  adapters: ['node', 'fetch'],
};

/** Rules that decide: only the engine of storages asks them. */
const DECIDING = /^store\/rules\/decide-/;
const DECIDERS = /^store\/(rules|engine)\//;

/** Imports that are not in the table. */
export function roomViolations(tree: SourceTree, rooms = ROOMS): Violation[] {
  const found: Violation[] = [];
  for (const file of tree.shipped) {
    const room = roomOf(file.path);
    const rule = rooms[file.path.split('/').slice(0, 2).join('/')] ?? rooms[room];
    if (rule === undefined) {
      found.push({ file: file.path, line: 1, problem: `the room ${room} is not in the table of rooms` });
      continue;
    }
    for (const { specifier, line } of importsOf(file)) {
      const problem = specifier.startsWith('.')
        ? relativeProblem({ tree, file, specifier, rule })
        : moduleProblem(specifier, rule);
      if (problem !== undefined) found.push({ file: file.path, line, problem });
    }
  }
  return found;
}

function relativeProblem({
  tree,
  file,
  specifier,
  rule,
}: {
  tree: SourceTree;
  file: SourceFile;
  specifier: string;
  rule: RoomRule;
}): string | undefined {
  const target = tree.resolve(file.path, specifier)?.path;
  if (target === undefined) return specifier.endsWith('.generated.js') ? undefined : `${specifier} is not in the tree`;
  const room = roomOf(file.path);
  if (DECIDING.test(target) && !DECIDERS.test(file.path)) return `${target} is asked by store/engine only`;
  if (roomOf(target) !== room) {
    return rule.rooms.some((allowed) => target.startsWith(`${allowed}/`) || target === `${allowed}.ts`)
      ? undefined
      : `${room} must not import ${target}`;
  }
  const [mine, theirs] = [siblingOf(file.path), siblingOf(target)];
  if (!(room in SIBLINGS) || theirs === undefined || mine === theirs || SIBLINGS[room]?.includes(theirs))
    return undefined;
  return `${room}/${mine ?? ''} must not import its sibling ${target}`;
}

function moduleProblem(specifier: string, rule: RoomRule): string | undefined {
  return rule.modules?.includes(packageOf(specifier)) ? undefined : `the module ${specifier} is not for this room`;
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Table rows that point to a room on their right. */
export function orderViolations(rooms = ROOMS): string[] {
  const order = Object.keys(rooms).filter((room) => !room.includes('/'));
  return Object.entries(rooms).flatMap(([room, rule]) =>
    rule.rooms
      .filter((other) => order.indexOf(roomOf(other)) >= order.indexOf(roomOf(room)))
      .map((other) => `${room} → ${other}`),
  );
}

/** Entries of the table that stand for no file, and modules that no file of their room imports. */
export function staleEntries(tree: SourceTree, rooms = ROOMS): string[] {
  const isThere = (entry: string) =>
    tree.files.some(({ path }) => path === `${entry}.ts` || path.startsWith(`${entry}/`));
  return Object.entries(rooms).flatMap(([room, rule]) => {
    const names = tree.shipped
      .filter(({ path }) => path.startsWith(`${room}/`))
      .flatMap((file) => importsOf(file).map(({ specifier }) => packageOf(specifier)));
    return [
      ...[room, ...rule.rooms].filter((entry) => !isThere(entry)).map((entry) => `${room} → ${entry} does not exist`),
      ...(rule.modules ?? [])
        .filter((module) => !names.includes(module))
        .map((module) => `${room} does not import ${module}`),
    ];
  });
}

/** The first folder of a path. */
export function roomOf(path: string): string {
  return path.split('/')[0] ?? path;
}

function siblingOf(path: string): string | undefined {
  const segments = path.split('/');
  return segments.length > 2 ? segments[1] : undefined;
}
