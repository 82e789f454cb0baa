import { type Answer, type Body, type Frame, sendParams, Wire, type WireRequest } from '../interop/wire.js';

/** The bindings that every card names. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
export type Binding = (typeof BINDINGS)[number];

/** Requests to one binding of a mounted agent, and their answers, in a common form. */
export interface BoundAgent {
  readonly url: string;
  /** The response object of the operation, or its error. */
  send(params: object, request?: WireRequest): Promise<Body>;
  get(id: string): Promise<Body>;
  list(params: Readonly<Record<string, string>>): Promise<Body>;
  cancel(id: string): Promise<Body>;
  extendedCard(request?: WireRequest): Promise<Answer>;
  stream(params: object, request?: WireRequest): AsyncGenerator<Frame>;
  subscribe(id: string, lastEventId?: string): AsyncGenerator<Frame>;
  event(frame: Frame | undefined): Body;
}

/** An agent below a path of a host. */
export class MountedAgent {
  readonly wire = new Wire('');
  readonly mount: string;
  readonly card: Body;

  constructor(mount: string, card: Body) {
    this.mount = mount;
    this.card = card;
  }

  /** Reads the card below the mount. */
  static async at(mount: string): Promise<MountedAgent> {
    const { body } = await new Wire('').send(`${mount}/.well-known/agent-card.json`);
    return new MountedAgent(mount, body);
  }

  /** The address of an interface as the card tells it. */
  urlOf(binding: Binding): string {
    const interfaces = this.card.supportedInterfaces as readonly Body[];
    return String(interfaces.find(({ protocolBinding }) => protocolBinding === binding)?.url);
  }

  /** The agent over one of its bindings. */
  over(binding: Binding): BoundAgent {
    const url = this.urlOf(binding);
    return binding === 'JSONRPC' ? this.#overJsonRpc(url) : this.#overHttpJson(url);
  }

  /** The answer of the agent to a text, as a text. */
  async say(text: string): Promise<string> {
    const { message } = await this.over('HTTP+JSON').send(sendParams(text));
    return String(((message as Body | undefined)?.parts as readonly Body[] | undefined)?.[0]?.text);
  }

  #overJsonRpc(url: string): BoundAgent {
    const call = async (method: string, params: object, request: WireRequest = {}) => {
      const { body } = await this.wire.rpc(url, method, params, request);
      return (body.result ?? body) as Body;
    };
    const frames = (method: string, params: object, request: WireRequest = {}) =>
      this.wire.frames(url, { ...request, body: { jsonrpc: '2.0', id: 7, method, params } });
    return {
      url,
      send: (params, request) => call('SendMessage', params, request),
      get: (id) => call('GetTask', { id }),
      list: (params) => call('ListTasks', params),
      cancel: (id) => call('CancelTask', { id }),
      extendedCard: (request) => this.wire.rpc(url, 'GetExtendedAgentCard', undefined, request),
      stream: (params, request) => frames('SendStreamingMessage', params, request),
      subscribe: (id, last) => frames('SubscribeToTask', { id }, since(last)),
      event: (frame) => (frame?.data.result ?? {}) as Body,
    };
  }

  #overHttpJson(url: string): BoundAgent {
    const call = async (path: string, request?: WireRequest) => (await this.wire.send(url + path, request)).body;
    return {
      url,
      send: (params, request) => call('/message:send', { ...request, body: params }),
      get: (id) => call(`/tasks/${id}`),
      list: (params) => call(`/tasks?${new URLSearchParams(params)}`),
      cancel: (id) => call(`/tasks/${id}:cancel`, { method: 'POST' }),
      extendedCard: (request) => this.wire.send(`${url}/extendedAgentCard`, request),
      stream: (params, request) => this.wire.frames(`${url}/message:stream`, { ...request, body: params }),
      subscribe: (id, last) => this.wire.frames(`${url}/tasks/${id}:subscribe`, since(last)),
      event: (frame) => frame?.data ?? {},
    };
  }
}

function since(last: string | undefined): WireRequest {
  return last === undefined ? {} : { headers: { 'last-event-id': last } };
}

/** The state that an event or a response shows; `undefined` for an artifact. */
export function stateOf({ task, statusUpdate, ...plain }: Body): unknown {
  return (((task ?? statusUpdate ?? plain) as Body).status as Body | undefined)?.state;
}
