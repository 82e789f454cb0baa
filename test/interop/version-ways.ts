import { randomUUID } from 'node:crypto';
import type { Body, Frame, Wire, WireRequest } from './wire.js';

/** Addresses of the root agent of the example server. */
const RPC = '/a2a/jsonrpc';
const REST = '/a2a/rest';

/** The operations of a caller on a task, in one version over one binding. States are those of 1.0. */
export interface Way {
  readonly name: string;
  send(wire: Wire, message: OutgoingMessage): Promise<Body>;
  get(wire: Wire, id: string): Promise<Body>;
  cancel(wire: Wire, id: string): Promise<Body>;
  /** The states that the stream of a message shows. */
  stream(wire: Wire, message: OutgoingMessage): AsyncIterable<string>;
  subscribe(wire: Wire, id: string): AsyncIterable<string>;
}

/** A message of one text. */
export interface OutgoingMessage {
  readonly text: string;
  readonly taskId?: string;
  readonly messageId?: string;
}

interface WayParts {
  readonly version: '1.0' | '0.3';
  readonly rest: boolean;
}

const METHODS = {
  '1.0': ['SendMessage', 'GetTask', 'CancelTask', 'SendStreamingMessage', 'SubscribeToTask'],
  '0.3': ['message/send', 'tasks/get', 'tasks/cancel', 'message/stream', 'tasks/resubscribe'],
} as const;

function wayOf({ version, rest }: WayParts): Way {
  const [send, get, cancel, stream, subscribe] = METHODS[version];
  const isOld = version === '0.3';
  const base = isOld ? `${REST}/v1` : REST;
  // A client of 0.3 sends no version.
  const request: WireRequest = isOld ? { unversioned: true } : {};
  const call = async (wire: Wire, method: string, params: object) =>
    (await wire.rpc(RPC, method, params, request)).body.result as Body;
  const rpcFrames = (wire: Wire, method: string, params: object) =>
    wire.frames(RPC, { ...request, body: { jsonrpc: '2.0', id: 1, method, params } });
  const params = (message: OutgoingMessage) => ({ message: messageOf(message, { isOld, rest }) });
  const taskOf = (body: Body) => (body.task ?? body) as Body;
  return {
    name: `${version} over ${rest ? 'HTTP+JSON' : 'JSON-RPC'}`,
    send: async (wire, message) =>
      rest
        ? taskOf((await wire.send(`${base}/message:send`, { ...request, body: params(message) })).body)
        : taskOf(await call(wire, send, params(message))),
    get: async (wire, id) => (rest ? (await wire.send(`${base}/tasks/${id}`, request)).body : call(wire, get, { id })),
    cancel: async (wire, id) =>
      rest
        ? (await wire.send(`${base}/tasks/${id}:cancel`, { ...request, method: 'POST' })).body
        : call(wire, cancel, { id }),
    stream: (wire, message) =>
      statesOf(
        rest
          ? wire.frames(`${base}/message:stream`, { ...request, body: params(message) })
          : rpcFrames(wire, stream, params(message)),
      ),
    subscribe: (wire, id) =>
      statesOf(
        rest
          ? wire.frames(`${base}/tasks/${id}:subscribe`, { ...request, method: 'POST' })
          : rpcFrames(wire, subscribe, { id }),
      ),
  };
}

/** Both versions over both bindings. */
export const WAYS: readonly Way[] = (['1.0', '0.3'] as const).flatMap((version) =>
  [false, true].map((rest) => wayOf({ version, rest })),
);

/** The state of a task or an event, in the words of 1.0. */
export function stateIn({ status }: Body): string {
  const state = String((status as Body).state).replace('CANCELLED', 'CANCELED');
  return state.startsWith('TASK_STATE_') ? state : `TASK_STATE_${state.replace('-', '_').toUpperCase()}`;
}

/** The texts of a task's history, whatever its parts are called. */
export function textsIn({ history }: Body): readonly string[] {
  return (history as readonly Body[]).map(({ parts, content }) => String(((parts ?? content) as Body[])[0]?.text));
}

function messageOf(
  { text, taskId, messageId = randomUUID() }: OutgoingMessage,
  form: { isOld: boolean; rest: boolean },
) {
  const ids = { messageId, ...(taskId !== undefined && { taskId }) };
  if (!form.isOld) return { ...ids, role: 'ROLE_USER', parts: [{ text }] };
  if (form.rest) return { ...ids, role: 'ROLE_USER', content: [{ text }] };
  return { ...ids, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] };
}

async function* statesOf(frames: AsyncIterable<Frame>): AsyncGenerator<string> {
  for await (const { data } of frames) {
    const event = (data.result ?? data) as Body;
    const shown = (event.task ?? event.statusUpdate ?? event) as Body;
    if (shown.status !== undefined) yield stateIn(shown);
  }
}
