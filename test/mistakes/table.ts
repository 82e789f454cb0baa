import { createServer } from 'node:net';
import {
  type AgentCard,
  agent,
  connect,
  createA2AHost,
  createA2AServer,
  createAgentHandler,
  fetchAgentCard,
  openStorage,
  textLogger,
  textOf,
} from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { apiKey } from 'parley-a2a/credentials';
import { toExpress } from 'parley-a2a/express';
import { toHono } from 'parley-a2a/hono';
import { openSqliteStorage } from 'parley-a2a/sqlite';
import { defineTool, jsonSchema } from 'parley-a2a/tools';
import { assertTaskFinalState, runAgent, testAgent } from 'parley-a2a-testing';
import { logOf, type Mistake } from './mistake.js';

const echo = (prompt: string): string => prompt;
/** Calls of programs without types. */
const wrong = (value: unknown): never => value as never;
const card: AgentCard = {
  name: 'Bare',
  description: '',
  version: '1',
  supportedInterfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

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

/** Mistakes with a client. */
const CLIENTS: readonly Mistake[] = [
  {
    name: 'a text beside no message',
    program: ({ client }) => client.sendMessage(wrong({ text: 'hello' })),
    prints:
      'OptionsError: Nothing was sent: give a text, or { message } with a text or { parts }, not an object with text',
  },
  {
    name: 'no message',
    program: ({ client }) => client.sendMessage(wrong(undefined)),
    prints: 'OptionsError: Nothing was sent: give a text, or { message } with a text or { parts }, not undefined',
  },
  {
    name: 'a message in the place of a request',
    program: ({ client }) => client.sendStreamingMessage(wrong({ parts: [{ text: 'hello' }] })),
    prints:
      'OptionsError: Nothing was sent: give a text, or { message } with a text or { parts }, not an object with parts',
  },
  {
    name: 'a message without parts',
    program: ({ client }) => client.ask({ message: wrong({ text: 'hello' }) }),
    prints:
      'OptionsError: Nothing was sent: give a text, or { message } with a text or { parts }, not an object with text',
  },
  {
    name: 'a message with no part',
    program: ({ client }) => client.sendMessage({ message: { parts: [] } }),
    prints: 'InvalidParamsError: Invalid parameters: message.parts must not be empty',
  },
  {
    name: 'the id of a task beside the message',
    program: ({ client }) => client.sendMessage(wrong({ message: 'more', taskId: 'task-1' })),
    prints: 'OptionsError: Nothing was sent: a request has no taskId. Ids are members of message',
  },
  {
    name: 'a misspelt option of a call',
    program: ({ client }) => client.sendMessage('hello', wrong({ timeout: 5 })),
    prints:
      'OptionsError: Nothing was sent: unknown option "timeout". Calls have signal, timeoutMs, metadata, extensions, headers, traceparent, lastEventId, until, pollMs, longestPollMs',
  },
  {
    name: 'a time as a text',
    program: ({ client }) => client.getTask('task-1', { timeoutMs: wrong('5') }),
    prints: 'OptionsError: Nothing was sent: timeoutMs must be a number from 0',
  },
  {
    name: 'a task without its id',
    program: ({ client }) => client.getTask(wrong({ taskId: 'task-1' })),
    prints: 'OptionsError: Nothing was sent: give the id of a task, or { id }',
  },
  {
    name: 'a task that is not there',
    program: ({ client }) => client.getTask('task-1'),
    prints: 'TaskNotFoundError: Task not found',
  },
  {
    name: 'a stream of a task that is not there',
    program: async ({ client }) => {
      for await (const event of client.subscribeToTask('task-1')) throw new Error(Object.keys(event).join());
    },
    prints: 'TaskNotFoundError: Task not found',
  },
  {
    name: 'a call of a closed client',
    program: async ({ url }) => {
      const client = await connect(url);
      client.close();
      await client.sendMessage('hello');
    },
    prints: 'ConnectionError: The client is closed',
  },
  {
    name: 'the answer in the place of its task',
    program: async ({ client }) => textOf(wrong(await client.sendMessage('hello'))),
    prints:
      'OptionsError: textOf: takes a task, an artifact or a message, such as answer.task, not an object with task',
  },
  {
    name: 'nothing listens there',
    program: async () => connect('localhost:4'),
    prints:
      'ConnectionError: http://localhost:4/.well-known/agent-card.json cannot be reached: nothing listens there (ECONNREFUSED)',
  },
  {
    name: 'a word in the place of an address',
    program: async () => connect('echo'),
    prints:
      'AgentCardError: Name an agent by its address, such as localhost:8080 or https://agent.example, or by its card, not by "echo"',
  },
  {
    name: 'no address',
    program: async () => connect(wrong(undefined)),
    prints:
      'AgentCardError: Name an agent by its address, such as localhost:8080 or https://agent.example, or by its card, not by undefined',
  },
  {
    name: 'a document that is no card',
    program: async () => fetchAgentCard(wrong({ title: 'Echo' })),
    prints:
      'AgentCardError: The given document is no agent card: its members are title. Give a card, or the url of an agent',
  },
  {
    name: 'a misspelt option of a client',
    program: async ({ url }) => connect(url, wrong({ credential: apiKey('k') })),
    prints: 'OptionsError: connect: unknown option "credential" (did you mean "credentials"?)',
  },
  {
    name: 'a misspelt option of retries',
    program: async ({ url }) => connect(url, { retry: wrong({ attemps: 3 }) }),
    prints: 'OptionsError: connect: unknown option "retry.attemps" (did you mean "attempts"?)',
  },
  {
    name: 'a key as a text',
    program: async ({ url }) => connect(url, { credentials: wrong('k') }),
    prints:
      'OptionsError: connect: credentials: must be made by a function of parley-a2a/credentials, such as apiKey(key)',
  },
  {
    name: 'a variable that is not set',
    program: () => apiKey(wrong(undefined)),
    prints: 'OptionsError: apiKey: takes the secret, not undefined. Is its environment variable set?',
  },
  {
    name: 'a server that is not awaited',
    program: async () => connect(wrong(Promise.resolve('localhost:8080'))),
    prints: 'OptionsError: connect: agent is a promise: await it',
  },
  {
    name: 'no key',
    program: async ({ guarded }) => (await connect(guarded)).sendMessage('hello'),
    prints: 'UnauthenticatedError: Authentication is required',
  },
  {
    name: 'a wrong key',
    program: async ({ guarded }) => (await connect(guarded, { credentials: apiKey('wrong') })).sendMessage('hello'),
    prints: 'UnauthenticatedError: The credentials are not accepted: they are wrong or have expired',
  },
  {
    name: 'a card without interfaces',
    program: async () => connect(card, { version: '1.0' }),
    prints: 'A2AError: Bare cannot be called: its card has no interfaces. Its author adds them to supportedInterfaces',
  },
  {
    name: 'a binding that the agent lacks',
    program: async ({ url }) => connect(url, { binding: 'GRPC' }),
    prints:
      'A2AError: A2A Agent does not offer GRPC; its card has JSONRPC 1.0, HTTP+JSON 1.0, JSONRPC 0.3, HTTP+JSON 0.3',
  },
  {
    name: 'a version that nobody speaks',
    program: async ({ url }) => connect(url, { version: '2.0' }),
    prints: 'A2AError: A2A Agent is not called in 2.0: this client speaks 1.x, 0.3 and 0.2; its card has JSONRPC 1.0,',
  },
  {
    name: 'a host of several agents',
    program: async ({ host }) => connect(host),
    prints: 'lists several agents: a, b. Name one behind the url, as in #a',
  },
  {
    name: 'an agent that the host does not have',
    program: async ({ host }) => connect(`${host}#c`),
    prints: 'does not list c. It lists a, b',
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
  ...CLIENTS,
  ...TESTS,
];
