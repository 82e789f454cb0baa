import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capnwebBinding } from '../../packages/capnweb/src/index.js';
import { grpcBinding } from '../../packages/grpc/src/index.js';
import { BearerTokens, optional } from '../../packages/parley/src/exports/auth.js';
import { type A2AServer, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { OPERATION_NAMES, type OperationName } from '../../packages/parley/src/operations/operations.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { apartFrom, withoutDefaults } from '../matrix/every-binding/outcome.js';
import { parley } from './parley.js';

const TOKEN = 'pl4nted-s3cret-of-every-transport';
const HOOK = 'https://hook.example/hook';

const executor: AgentExecutor = {
  async execute({ text }, events) {
    await events.working();
    if (text === 'ask') return events.inputRequired('more?');
    await events.artifact(`You said: ${text}`, { artifactId: 'answer' });
    await events.complete();
  },
};

/** The commands of each operation. `TASK` is a task that waits for input. */
const COMMANDS: Readonly<Record<OperationName, readonly string[]>> = {
  sendMessage: ['send', 'hello', '--async'],
  sendStreamingMessage: ['send', 'hello', '--stream'],
  getTask: ['task', 'get', 'TASK'],
  listTasks: ['task', 'list', '--status', 'input-required', '--page-size', '1'],
  createTaskPushNotificationConfig: ['task', 'push-config', 'create', 'TASK', '--url', HOOK, '--id', 'c1'],
  getTaskPushNotificationConfig: ['task', 'push-config', 'get', 'TASK', 'c1'],
  listTaskPushNotificationConfigs: ['task', 'push-config', 'list', 'TASK'],
  deleteTaskPushNotificationConfig: ['task', 'push-config', 'delete', 'TASK', 'c1'],
  getExtendedAgentCard: ['card', 'get', '--extended', '--bearer', TOKEN],
  subscribeToTask: ['task', 'subscribe', 'TASK', '--stream'],
  cancelTask: ['task', 'cancel', 'TASK'],
};

/** Refused commands: by the agent, and for their parameters. */
const REFUSED: readonly (readonly string[])[] = [
  ['task', 'get', 'missing'],
  ['send', 'hello', '--task-id', 'missing'],
  ['card', 'get', '--extended', '--bearer', 'pl4nted-s3cret-that-is-wrong'],
];

describe('the command line against one agent', () => {
  let server: A2AServer;
  let url: string;
  beforeAll(async () => {
    server = createA2AServer({
      agent: executor,
      authenticator: optional(new BearerTokens([{ token: TOKEN, subject: 'ann' }])),
      extendedAgentCard: (card) => ({ ...card, name: 'Extended' }),
      push: { allow: ['hook.example'] },
      versions: ['1.0', '0.3'],
      bindings: [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()],
      logger: silentLogger,
      logRequests: false,
    });
    ({ url } = await server.listen(0));
  });
  afterAll(() => server.close({ graceMs: 0 }));

  /** Returns the outcome of each operation, without ids and times. */
  async function outcomesOver(transport: string, version: string): Promise<Readonly<Record<string, Outcome>>> {
    const run = (args: readonly string[], task = '') =>
      parley([
        ...args.map((word) => (word === 'TASK' ? task : word)),
        '-a',
        url,
        '--transport',
        transport,
        '--a2a-version',
        version,
        '-o',
        'json',
      ]);
    const asked = await run(['send', 'ask']);
    const { id } = (JSON.parse(asked.stdout) as { task: { id: string } }).task;
    const outcomes: [string, Outcome][] = [];
    for (const operation of OPERATION_NAMES.toSorted((one, other) => orderOf(one) - orderOf(other)))
      outcomes.push([operation, plain(await run(COMMANDS[operation], id))]);
    for (const args of REFUSED) outcomes.push([args.join(' '), plain(await run(args))]);
    return Object.fromEntries(outcomes);
  }

  /** The outcomes of the first binding of each version. */
  const expected = new Map<string, object>();

  const transports = [
    ['TX_001, TX_004', 'HTTP+JSON', 'http+json', '1.0'],
    ['TX_001, TX_004, OUT_004', 'JSON-RPC', 'jsonrpc', '1.0'],
    ['TX_004, TX_005, OUT_004', 'gRPC', 'grpc', '1.0'],
    ['TX_004, TX_005, OUT_004', "Cap'n Web", 'capnweb', '1.0'],
    ['TX_004', 'JSON-RPC of 0.3', 'jsonrpc', '0.3'],
    ['TX_004', 'HTTP+JSON of 0.3', 'http+json', '0.3'],
    ['TX_004', 'gRPC of 0.3', 'grpc', '0.3'],
  ] as const;
  // Each call is a process, so the short form compares only the transports of the specification.
  const isLong = process.env.TEST_LONG !== undefined;
  it.each(isLong ? transports : transports.slice(0, 3))(
    '%s: calls every operation over %s, with the same results and errors',
    async (_, _name, transport, version) => {
      const outcomes = await outcomesOver(transport, version);
      expect(Object.keys(outcomes)).toHaveLength(OPERATION_NAMES.length + REFUSED.length);
      const failed = OPERATION_NAMES.filter((operation) => outcomes[operation]?.code !== 0);
      // Version 0.3 has no lists.
      expect(failed).toEqual(version === '0.3' ? ['listTasks'] : []);
      const compared = version === '0.3' ? withoutListsAndCards(outcomes) : outcomes;
      const reference = expected.get(version) ?? compared;
      expected.set(version, reference);
      expect(compared).toEqual(reference);
    },
    120_000,
  );
});

/** Returns the outcomes that all bindings of 0.3 share. Its protobuf cards lack members of the JSON form. */
function withoutListsAndCards(outcomes: Readonly<Record<string, Outcome>>): object {
  const { listTasks: _, getExtendedAgentCard: __, ...others } = outcomes;
  return others;
}

function orderOf(operation: OperationName): number {
  return Object.keys(COMMANDS).indexOf(operation);
}

interface Outcome {
  readonly code: number | null;
  readonly values: object;
}

/** Returns the exit code and the lines of JSON, without ids, times and the error numbers of the binding. */
function plain({ code, stdout }: { readonly code: number | null; readonly stdout: string }): Outcome {
  const text = stdout
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  const documents = text.startsWith('{\n') ? [text] : text.trim().split('\n');
  const values = documents.map((document) => (document === '' ? '' : (JSON.parse(document) as unknown)));
  return { code, values: withoutDefaults(apartFrom(['a2aCode'], values)) as object };
}
