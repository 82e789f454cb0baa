import type { AgentExecutor, Client, RequestContext, Task } from 'parley-a2a';
import { textOf } from 'parley-a2a';
import { agentCalls } from 'parley-a2a/agent-calls';
import { connect, type OutgoingMessage } from 'parley-a2a/client';
import { fileTransfer, memoryFileStore } from 'parley-a2a/files';
import type { A2AServerOptions } from 'parley-a2a/node';
import { agentSchemas } from 'parley-a2a/schemas';
import { messageSigning, signedCalls, verifiedSigners } from 'parley-a2a-signing';
import { expect } from 'vitest';
import { keyPair } from '../../message-signing/world.js';
import type { AdapterRow, Work } from './adapters.js';

/** The extensions of an agent. */
export type Extension =
  | 'schemas'
  | 'tools'
  | 'approvals'
  | 'signing'
  | 'files'
  | 'conversation'
  | 'authorization'
  | 'agent calls';

/** An agent with an extension, as its caller meets it. */
export interface Played {
  readonly client: Client;
  readonly decision: AdapterRow['decision'];
  /** The number of runs of the work so far. */
  readonly runs: () => number;
  send(message: string | OutgoingMessage): Promise<Task>;
}

type ServerChoices = Pick<A2AServerOptions, 'schemas' | 'signing' | 'files' | 'calls'>;

/** An extension, and the conversation that shows it. */
export interface ExtensionRow {
  readonly work: Work;
  readonly options?: () => Promise<ServerChoices> | ServerChoices;
  /** Default: a client without interceptors. */
  readonly connect?: (url: string) => Promise<Client>;
  play(played: Played): Promise<void>;
}

const stateOf = ({ status }: Task) => status.state.slice('TASK_STATE_'.length);
const expectCompleted = (task: Task, said: unknown) =>
  expect([stateOf(task), answerOf(task)]).toEqual(['COMPLETED', said]);
/** The text of the answer. The artifact of tool calls has none. */
const answerOf = ({ artifacts = [] }: Task) =>
  artifacts.map((artifact) => textOf(artifact)).filter((said) => said !== '');

const strict = (member: string) => ({
  type: 'object',
  required: [member],
  properties: { [member]: { type: 'string' } },
  additionalProperties: false,
});

const AUDIENCE = 'https://agents.example.com/matrix';
const keys = Promise.all([
  keyPair('caller-1'),
  keyPair('agent-1'),
  keyPair('caller-enc', 'ECDH-ES+A256KW'),
  keyPair('agent-enc', 'ECDH-ES+A256KW'),
]);
const content = 'The content of a file. '.repeat(10);

/** Counts in the context of its caller how often it was called. */
export const CALLEE: AgentExecutor = {
  async execute(context, events) {
    await events.artifact(`callee: ${context.text}`);
    await events.complete();
  },
};

/** `callee`: the url of another agent. */
export const extensions = (callee: () => string): Readonly<Record<Extension, ExtensionRow>> => ({
  schemas: {
    work: { needsApproval: true, run: ({ history, message }) => JSON.stringify((history[0] ?? message).parts) },
    options: () => ({ schemas: agentSchemas({ input: strict('order'), output: strict('done') }) }),
    play: async ({ send, decision, runs }) => {
      await expect(send({ parts: [{ data: { evil: 1 } }] })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      const asked = await send({ parts: [{ data: { order: 'Dune' } }] });
      expect(stateOf(asked)).toBe('INPUT_REQUIRED');
      const evil = send({ taskId: asked.id, parts: [{ data: { evil: 1 } }] });
      await expect(evil).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      expectCompleted(await send({ taskId: asked.id, parts: decision(asked, 'approve') }), [
        '[{"data":{"order":"Dune"}}]',
      ]);
      expect(runs()).toBe(1);
    },
  },

  tools: {
    work: { run: ({ text }) => `did ${text}` },
    play: async ({ send, runs }) => {
      const { contextId = '', ...first } = await send('this');
      expectCompleted(first as Task, ['did this']);
      expectCompleted(await send({ contextId, parts: [{ text: 'that' }] }), ['did that']);
      expect(runs()).toBe(2);
    },
  },

  approvals: {
    work: { needsApproval: true, run: () => 'done' },
    play: async ({ send, decision, runs }) => {
      for (const [answer, said, times] of [
        ['refuse', 'not done', 0],
        ['approve', 'done', 1],
      ] as const) {
        const asked = await send('Go');
        expect(stateOf(asked)).toBe('INPUT_REQUIRED');
        expectCompleted(await send({ taskId: asked.id, parts: decision(asked, answer) }), [said]);
        expect(runs()).toBe(times);
      }
    },
  },

  signing: {
    work: { needsApproval: true, run: (context) => `for ${verifiedSigners(context).map(({ id }) => id)}` },
    options: async () => {
      const [caller, agent, , sealing] = await keys;
      const signing = await messageSigning({
        audience: AUDIENCE,
        required: true,
        trust: [{ id: 'shop', keys: [caller.shown] }],
        keys: [agent.own],
        encryption: { keys: [sealing.own], required: true },
      });
      return { signing };
    },
    connect: async (url) => {
      const [caller, agent, own, sealing] = await keys;
      const encryption = { to: { keys: [sealing.shown] }, keys: [own.own], required: true };
      const trust = { audience: AUDIENCE, keys: [caller.own], agent: { keys: [agent.shown] } };
      return connect(url, { interceptors: [await signedCalls({ ...trust, required: true, encryption })] });
    },
    play: async ({ client, send, decision }) => {
      const asked = await send('Go');
      expect(stateOf(asked)).toBe('INPUT_REQUIRED');
      expectCompleted(await send({ taskId: asked.id, parts: decision(asked, 'approve') }), ['for shop']);
      expectCompleted(await client.getTask(asked.id), ['for shop']);
    },
  },

  files: {
    work: {
      run: async ({ files, message }) => {
        const [part] = message.parts;
        const bytes = part === undefined ? undefined : await (await files.open(part)).bytes(10_000);
        return `${part !== undefined && part.url !== undefined ? 'stored' : 'raw'}: ${new TextDecoder().decode(bytes)}`;
      },
    },
    options: () => ({ files: fileTransfer({ store: memoryFileStore(), inlineBytes: 100 }) }),
    play: async ({ send }) => {
      const raw = Buffer.from(content).toString('base64');
      expectCompleted(await send({ parts: [{ raw, filename: 'a.txt', mediaType: 'text/plain' }] }), [
        `stored: ${content}`,
      ]);
    },
  },

  conversation: {
    work: {
      run: async (context: RequestContext) =>
        (await context.conversation())
          .map(({ role, text }) => `${role} ${text}`)
          .filter((line) => / ./.test(line))
          .join('; '),
    },
    play: async ({ send }) => {
      const first = await send('One');
      expectCompleted(first, ['user One']);
      const { contextId = '' } = first;
      expectCompleted(await send({ contextId, parts: [{ text: 'Two' }] }), ['user One; agent user One; user Two']);
    },
  },

  authorization: {
    work: {
      run: async (context: RequestContext) => {
        const url = ({ url, state }: { readonly url: string; readonly state: string }) => `${url}?state=${state}`;
        const { parameters } = await context.requestAuthorization({ message: 'Please log in', url });
        return `code ${parameters.code}`;
      },
    },
    play: async ({ client, send, runs }) => {
      const asked = await send('Go');
      expect(stateOf(asked)).toBe('AUTH_REQUIRED');
      const link = /"url":"([^"]+)"/.exec(JSON.stringify(asked.status.message))?.[1];
      expect((await fetch(`${link}&code=4711`)).status).toBe(200);
      await expect.poll(async () => stateOf(await client.getTask(asked.id)), { timeout: 15_000 }).toBe('COMPLETED');
      expectCompleted(await client.getTask(asked.id), ['code 4711']);
      expect(runs()).toBe(1);
    },
  },

  'agent calls': {
    work: {
      run: async (context: RequestContext) => {
        const answer = await context.callAgent(callee(), context.text);
        return answer.task !== undefined ? textOf(answer.task) : textOf(answer.message);
      },
    },
    options: () => ({ calls: agentCalls({ allow: ['127.0.0.1'] }) }),
    play: async ({ send }) => expectCompleted(await send('hello'), ['callee: hello']),
  },
});

/** The extension that brings a member of the context of a turn. `undefined`: every turn has it. */
export const EXTENSION_OF: Readonly<Record<keyof RequestContext, Extension | undefined>> = {
  callAgent: 'agent calls',
  conversation: 'conversation',
  files: 'files',
  requestAuthorization: 'authorization',
  acceptedOutputModes: undefined,
  attempt: undefined,
  checkpoint: undefined,
  clock: undefined,
  contextId: undefined,
  countTokens: undefined,
  extensions: undefined,
  history: undefined,
  message: undefined,
  metadata: undefined,
  previousEvents: undefined,
  referenceTasks: undefined,
  saveCheckpoint: undefined,
  signal: undefined,
  task: undefined,
  taskId: undefined,
  tenant: undefined,
  text: undefined,
  traceparent: undefined,
  user: undefined,
};
