import { describe, expect, it } from 'vitest';
import type { RequestHandler, StreamItem } from '../../packages/parley/src/exports/server.js';
import { type AgentHandlerOptions, createAgentHandler } from '../../packages/parley/src/exports/server.js';
import { EVENTS, RecordingHandler } from '../../packages/parley/test/recording-handler.js';

const url = 'https://agent.example';
const SEND = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };

interface Body {
  readonly error?: { readonly code: number; readonly message: string; readonly data: readonly { reason: string }[] };
  readonly result?: unknown;
}

/** Calls an agent over JSON-RPC. */
function callerOf(options: Partial<AgentHandlerOptions>) {
  const { fetch } = createAgentHandler({ url, versions: ['1.0', '0.3'], ...options } as AgentHandlerOptions & {
    readonly url: string;
  });
  return async (method: string, params: object): Promise<Body> => {
    const version = method.includes('/') ? '0.3' : '1.0';
    const response = await fetch(
      new Request(`${url}/a2a/jsonrpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': version },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    );
    const text = await response.text();
    if (!text.startsWith('{')) return JSON.parse(text.trimEnd().split('data: ').at(-1) ?? '') as Body;
    return JSON.parse(text) as Body;
  };
}

describe('media types that an author declares', () => {
  const agent = (prompt: string) => prompt;
  const data = { message: { ...SEND.message, parts: [{ data: {} }] } };

  it('are asked of parts and of accepted modes, on every way to send (Spec §3.1.1)', async () => {
    const call = callerOf({ agent, defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] });
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      expect((await call(method, data)).error).toMatchObject({ code: -32005, message: /application\/json/ });
      const png = { ...SEND, configuration: { acceptedOutputModes: ['image/png'] } };
      expect((await call(method, png)).error).toMatchObject({ code: -32005, message: /image\/png/ });
      expect((await call(method, SEND)).error).toBeUndefined();
    }
    const old = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'data', data: {} }] };
    expect((await call('message/send', { message: old })).error?.code).toBe(-32005);
  });

  it('of a skill count beside those of the agent', async () => {
    const skill = { id: 's', name: 'S', description: 'S', inputModes: ['application/json'] };
    const both = callerOf({ agent, defaultInputModes: ['text/plain'], skills: [skill] });
    expect((await both('SendMessage', data)).error).toBeUndefined();
    const only = callerOf({ agent, skills: [skill] });
    expect((await only('SendMessage', SEND)).error?.code).toBe(-32005);
    const other = { id: 'o', name: 'O', description: 'O' };
    expect((await callerOf({ agent, skills: [skill, other] })('SendMessage', SEND)).error).toBeUndefined();
  });

  it('that are not declared accept everything', async () => {
    const call = callerOf({ agent });
    const accepting = { ...data, configuration: { acceptedOutputModes: ['image/png'] } };
    expect((await call('SendMessage', accepting)).error).toBeUndefined();
  });
});

describe('results of a custom handler that the protocol does not allow', () => {
  const callBroken = (behaviours: Partial<Record<keyof RequestHandler, unknown>>) =>
    callerOf({ handler: Object.assign(new RecordingHandler(), behaviours) as unknown as RequestHandler });
  const invalid = { code: -32006, data: [{ reason: 'INVALID_AGENT_RESPONSE' }] };

  it.each([
    ['SendMessage', 'sendMessage', SEND],
    ['GetTask', 'getTask', { id: 't1' }],
    ['CancelTask', 'cancelTask', { id: 't1' }],
    ['ListTasks', 'listTasks', {}],
  ] as const)('are -32006 from %s', async (method, name, params) => {
    for (const value of [undefined, null, {}, { task: { id: 7 } }, { id: 't1' }, 'text']) {
      expect((await callBroken({ [name]: async () => value })(method, params)).error).toMatchObject(invalid);
    }
    expect((await callBroken({})(method, params)).error).toBeUndefined();
  });

  it('are -32006 as the first event of a stream, and later', async () => {
    const callStreaming = (items: readonly unknown[]) =>
      callBroken({
        async *sendStreamingMessage() {
          yield* items as readonly StreamItem[];
        },
      })('SendStreamingMessage', SEND);
    expect((await callStreaming([{ event: { task: {} } }])).error).toMatchObject(invalid);
    expect((await callStreaming([EVENTS[0], { event: { nonsense: 1 } }])).error).toMatchObject(invalid);
  });
});
