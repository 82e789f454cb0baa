import { createServer } from 'node:net';
import {
  agent,
  createA2AHost,
  createA2AServer,
  createAgentHandler,
  openStorage,
  silentLogger,
  textLogger,
} from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { toExpress } from 'parley-a2a/express';
import { toHono } from 'parley-a2a/hono';
import { openSqliteStorage } from 'parley-a2a/sqlite';
import { defineTool, jsonSchema } from 'parley-a2a/tools';
import { assertTaskFinalState, runAgent, testAgent } from 'parley-a2a-testing';
import { CLIENT_MISTAKES } from './client-table.js';
import { logOf, type Mistake, wrong } from './mistake.js';

const echo = (prompt: string): string => prompt;
class Shouter {
  execute(): void {}
}

/** Mistakes with a server. */
const SERVERS: readonly Mistake[] = [
  {
    name: 'a server without an agent',
    program: () => createA2AServer(wrong({})),
    prints:
      'OptionsError: createA2AServer: needs an agent: a function, such as agent: (prompt) => prompt.toUpperCase()',
  },
  {
    name: 'a server without options',
    program: () => createA2AServer(wrong(undefined)),
    prints: 'OptionsError: createA2AServer: takes an object of options, not undefined',
  },
  {
    name: 'an agent that is not imported as it is exported',
    program: () => createA2AServer(wrong({ agent: undefined })),
    prints:
      'OptionsError: createA2AServer: needs an agent: a function, such as agent: (prompt) => prompt.toUpperCase()',
  },
  {
    name: 'the agent in the place of the options',
    program: () => createA2AServer(wrong(echo)),
    prints: 'OptionsError: createA2AServer: takes an object of options, not a function',
  },
  {
    name: 'a misspelt option',
    program: () => createA2AServer(wrong({ agent: echo, nmae: 'Echo' })),
    prints: 'OptionsError: createA2AServer: unknown option "nmae" (did you mean "name"?)',
  },
  {
    name: 'a misspelt option inside of an option',
    program: () => createA2AServer(wrong({ agent: echo, retention: { taskRetention: 1 } })),
    prints: 'OptionsError: createA2AServer: unknown option "retention.taskRetention" (did you mean "taskRetentionMs"?)',
  },
  {
    name: 'a class in the place of an agent',
    program: () => createA2AServer({ agent: wrong(Shouter) }),
    prints: 'OptionsError: createA2AServer: agent: is a class: give an instance of it, made with new',
  },
  {
    name: 'a text in the place of an agent',
    program: () => createA2AServer({ agent: wrong('echo') }),
    prints:
      'OptionsError: createA2AServer: agent: must be an AgentExecutor, a function, or an object with a method run or execute',
  },
  {
    name: 'a method of an agent that is none',
    program: () => createA2AServer({ agent: wrong({ execute: true }) }),
    prints:
      'OptionsError: createA2AServer: agent: must be an AgentExecutor, a function, or an object with a method run or execute',
  },
  {
    name: 'an agent and a handler',
    program: () => createA2AServer(wrong({ agent: echo, handler: { sendMessage() {} } })),
    prints: 'OptionsError: createA2AServer: has an agent and a handler: give one',
  },
  {
    name: 'a storage that is not awaited',
    program: () => createA2AServer({ agent: echo, storage: wrong(openStorage('memory:')) }),
    prints: 'OptionsError: createA2AServer: storage: is a promise: await it',
  },
  {
    name: 'a url in the place of a storage',
    program: () => createA2AServer({ agent: echo, storage: wrong('sqlite:tasks.db') }),
    prints:
      'OptionsError: createA2AServer: storage: needs a method accept. Give a storage, such as await openStorage(url)',
  },
  {
    name: 'a function in the place of an authenticator',
    program: () => createA2AServer({ agent: echo, authenticator: wrong(() => 'ada') }),
    prints:
      'OptionsError: createA2AServer: authenticator: needs a method authenticate. Give one of parley-a2a/auth, such as new ApiKeys(keys)',
  },
  {
    name: 'a url without a scheme',
    program: () => createA2AServer({ agent: echo, url: 'agents.example.com' }),
    prints: 'OptionsError: createA2AServer: url: must be an absolute http or https URL',
  },
  {
    name: 'a time that is no whole number of milliseconds',
    program: () => createA2AServer({ agent: echo, idempotency: { windowMs: 1_500.5 } }),
    prints: 'OptionsError: createA2AServer: idempotency.windowMs: must be a whole number',
  },
  {
    name: 'a limit of more than thirty years',
    program: () => createA2AServer({ agent: echo, limits: { waitingExpiryMs: 1e15 } }),
    prints: 'OptionsError: createA2AServer: limits.waitingExpiryMs: must be at most 1000000000000',
  },
  {
    name: 'a host without agents',
    program: () => createA2AHost({ agents: {} }),
    prints: 'OptionsError: createA2AHost: agents: needs at least one agent',
  },
  {
    name: 'a list of agents',
    program: () => createA2AHost({ agents: wrong([{ agent: echo }]) }),
    prints: 'OptionsError: createA2AHost: agents: must be an object of agents by path',
  },
  {
    name: 'a path with a slash at its end',
    program: () => createA2AHost({ agents: { '/echo/': { agent: echo } } }),
    prints: 'OptionsError: createA2AHost: agents: the path "/echo/" must be "/" or like "/agents/echo"',
  },
  {
    name: 'a port in use',
    program: async ({ url }) => createA2AServer({ agent: echo }).listen(Number(new URL(url).port)),
    prints:
      'Error: Cannot listen on 127.0.0.1:PORT (EADDRINUSE): another process has the port. Stop it, or listen on another port; port 0 is a free one',
  },
  {
    name: 'a server that listens twice',
    program: async () => {
      const server = createA2AServer({ agent: echo, logger: silentLogger });
      await server.listen(0);
      await server.listen(0).finally(() => server.close({ graceMs: 0 }));
    },
    prints: 'Error: The server listens already, on http://127.0.0.1:PORT. Another server can take a port',
  },
  {
    name: 'a host of another machine',
    program: async () => createA2AServer({ agent: echo, allowAnonymous: true }).listen(0, '192.0.2.1'),
    prints:
      'Error: Cannot listen on 192.0.2.1:0 (EADDRNOTAVAIL): the host is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all of its addresses',
  },
  {
    name: 'a port beyond the last one',
    program: async () => createA2AServer({ agent: echo }).listen(99_999),
    prints: 'OptionsError: listen: port: must be a whole number from 0 to 65535, not 99999',
  },
  {
    name: 'an object in the place of a port',
    program: async () => createA2AServer({ agent: echo }).listen(wrong({ port: 8080 })),
    prints: 'OptionsError: listen: port: must be a whole number from 0 to 65535, not an object with port',
  },
  {
    name: 'an open agent on the network',
    program: async () => createA2AServer({ agent: echo }).listen(0, '0.0.0.0'),
    prints:
      'OptionsError: Not listening: on 0.0.0.0 anybody could call the agent at / without authentication; set an authenticator, or allowAnonymous (A2A_ALLOW_ANONYMOUS=true) if that is meant',
  },
  {
    name: 'fetch of a handler without its address',
    program: () => createAgentHandler({ agent: echo }).fetch,
    prints: 'OptionsError: createAgentHandler: url: is needed for fetch, such as "https://example.com/agents/echo"',
  },
  {
    name: 'a server in the place of a handler',
    program: () => toExpress(wrong(createServer())),
    prints: 'OptionsError: toExpress: takes an agent of createAgentHandler(), not an object',
  },
  {
    name: 'Hono without an address',
    program: () => toHono(createAgentHandler({ agent: echo })),
    prints: 'OptionsError: toHono: the agent needs a url, such as "https://example.com/agents/echo"',
  },
  {
    name: 'an unknown database',
    program: async () => openStorage('mysql://localhost/tasks'),
    prints: 'OptionsError: Database url: "mysql://localhost/tasks" must be memory:,',
  },
  {
    name: 'a database without an address',
    program: async () => openStorage(wrong(undefined)),
    prints: 'OptionsError: openStorage: takes a url, such as sqlite:./data/parley.db, not undefined',
  },
  {
    name: 'a database whose package is not named',
    program: async () => openStorage('postgres://localhost/tasks'),
    prints:
      'OptionsError: Database url: "postgres://localhost/tasks" needs a package: npm install parley-a2a-postgres, and name its postgresBackend in backends',
  },
  {
    name: 'the path of a database as a text',
    program: async () => openSqliteStorage(wrong('tasks.db')),
    prints: 'OptionsError: openSqliteStorage: takes an object of options, not a string',
  },
  {
    name: 'a misspelt level of a logger',
    program: () => textLogger({ level: wrong('warm') }),
    prints: 'OptionsError: textLogger: level: must be one of debug, info, warn, error, silent (did you mean "warn"?)',
  },
  {
    name: 'a key without its user',
    program: () => new ApiKeys([wrong({ key: 'k' })]),
    prints: 'OptionsError: ApiKeys: the subject must be a text',
  },
  {
    name: 'a tool with a misspelt option',
    program: () => defineTool(wrong({ name: 'add', input: jsonSchema({ type: 'object' }), run: echo, timeout: 5 })),
    prints: 'OptionsError: defineTool: unknown option "timeout" (did you mean "timeoutMs"?)',
  },
];

/** Mistakes with an agent, which the log tells its author. */
const AGENTS: readonly Mistake[] = [
  {
    name: 'an agent that returns nothing',
    program: () => logOf(() => {}),
    prints: 'warn the agent gave no answer, so the task is empty: return a text or parts, or yield pieces',
  },
  {
    name: 'a generator that returns its answer',
    program: () =>
      logOf(async function* (prompt: string) {
        if (prompt === '') yield prompt;
        return 'hello';
      }),
    prints: 'warn the agent gave no answer, so the task is empty: return a text or parts, or yield pieces',
  },
  {
    name: 'an agent that yields an object',
    program: () =>
      logOf(async function* () {
        yield { a: 1 };
      }),
    prints: 'TypeError: The agent yielded an object with a. Yield a text or a part, such as { data: value } for JSON',
  },
  {
    name: 'an agent that yields a number',
    program: () =>
      logOf(async function* () {
        yield 5;
      }),
    prints: 'TypeError: The agent yielded a number. Yield a text or a part, such as { data: value } for JSON',
  },
  {
    name: 'an agent that yields a list of parts',
    program: () =>
      logOf(async function* () {
        yield [{ text: 'hello' }];
      }),
    prints: 'TypeError: The agent yielded a list. Yield a text or a part, such as { data: value } for JSON',
  },
  {
    name: 'an agent that returns an object',
    program: () => logOf(() => ({ total: 5 })),
    prints:
      'TypeError: The agent returned an object with total. Return a text or a part, such as { data: value } for JSON',
  },
  {
    name: 'an agent that returns null',
    program: () => logOf(() => null),
    prints: 'TypeError: The agent returned null. Return a text or a part, such as { data: value } for JSON',
  },
  {
    name: 'a generator that is not async',
    program: () =>
      logOf(function* () {
        yield 'hello';
      }),
    prints: 'TypeError: The agent returned a generator that is not async. Write it as async function*',
  },
  {
    name: 'an executor that ends without a state',
    program: () => logOf({ execute: async () => {} }),
    prints: 'warn agent ended without a final or interrupted state: call events.complete() or another one last',
  },
  {
    name: 'an event that is not valid',
    program: () =>
      logOf({
        execute: async (_: unknown, events: { artifact(value: unknown): unknown }) => events.artifact({ a: 1 }),
      }),
    prints:
      'caused by TypeError: artifactUpdate.artifact.parts[0].a: is not a known member; artifactUpdate.artifact.parts[0]: must have exactly one of text, raw, url, data',
  },
  {
    name: 'an agent that is no function',
    program: () => agent(wrong('echo')),
    prints: 'OptionsError: agent: takes a function, or an object with a method run, not a string',
  },
];

/** Mistakes in tests of agents. */
const TESTS: readonly Mistake[] = [
  {
    name: 'an agent under test that throws',
    program: async () => {
      const { events } = await runAgent(() => JSON.parse('{'), 'hello');
      assertTaskFinalState(events, 'TASK_STATE_COMPLETED');
    },
    prints: 'with "The agent failed to process the message.". The agent failed with SyntaxError: ',
  },
  {
    name: 'an agent under test that publishes an invalid event',
    program: async () => {
      const { task } = await runAgent({ execute: (_, events) => events.complete(wrong({ parts: 5 })) }, 'hello');
      assertTaskFinalState(wrong(task), 'TASK_STATE_COMPLETED');
    },
    prints: 'InvalidAgentResponseError: Invalid agent response type (TypeError: statusUpdate.status.message.parts: ',
  },
  {
    name: 'the error of an agent under test',
    program: async () => {
      const { error } = await runAgent(() => (wrong(null) as { name: string }).name, 'hello');
      throw error;
    },
    prints: "TypeError: Cannot read properties of null (reading 'name')",
  },
  {
    name: 'no agent under test',
    program: async () => testAgent(wrong(undefined)),
    prints: 'OptionsError: testAgent: needs an agent: a function, such as agent: (prompt) => prompt.toUpperCase()',
  },
  {
    name: 'a run in the place of its events',
    program: async () => assertTaskFinalState(wrong(await runAgent(echo, 'hello')), 'TASK_STATE_FAILED'),
    prints: 'assertTaskFinalState: event 3: expected TASK_STATE_FAILED, but got TASK_STATE_COMPLETED',
  },
];

export const MISTAKES: readonly Mistake[] = [
  ...SERVERS,
  ...AGENTS.map((row) => ({ ...row, hasLine: false as const })),
  ...CLIENT_MISTAKES,
  ...TESTS,
];
