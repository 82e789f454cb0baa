import { type AgentCard, connect, fetchAgentCard, textOf } from 'parley-a2a';
import { apiKey } from 'parley-a2a/credentials';
import { type Mistake, wrong } from './mistake.js';

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

/** Mistakes with a client. */
export const CLIENT_MISTAKES: readonly Mistake[] = [
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
      'OptionsError: Nothing was sent: unknown option "timeout" (did you mean "timeoutMs"?). Calls have signal, timeoutMs, metadata, extensions, headers, traceparent, lastEventId, until, pollMs, longestPollMs',
  },
  {
    name: 'a misspelt member of a request',
    program: ({ client }) => client.listTasks(wrong({ pageSiz: 1 })),
    prints:
      'OptionsError: Nothing was sent: give { contextId, status, pageSize, pageToken, historyLength, statusTimestampAfter, includeArtifacts, tenant }, not pageSiz (did you mean "pageSize"?)',
  },
  {
    name: 'a misspelt member beside an id',
    program: ({ client }) => client.getTask(wrong({ id: 'task-1', historyLenght: 1 })),
    prints:
      'OptionsError: Nothing was sent: give { id, historyLength, tenant }, not historyLenght (did you mean "historyLength"?)',
  },
  {
    name: 'a member of another request',
    program: ({ client }) => client.listTasks(wrong({ contextId: 'c', id: 'task-1' })),
    prints:
      'OptionsError: Nothing was sent: give { contextId, status, pageSize, pageToken, historyLength, statusTimestampAfter, includeArtifacts, tenant }, not id',
  },
  {
    name: 'an id in the place of a request',
    program: ({ client }) => client.listTaskPushNotificationConfigs(wrong('task-1')),
    prints: 'OptionsError: Nothing was sent: give { taskId, pageSize, pageToken, tenant }, not a string',
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
