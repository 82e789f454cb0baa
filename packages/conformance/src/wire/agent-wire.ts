import { refusalOf } from './agent-refusal.js';
import { eventFrames } from './event-frames.js';
import { excerptOf, isJson, type Json, memberOf, parsedJson } from './json.js';
import { OPERATIONS_0_3, type OperationName, ROUTES_1_0, routedRequest } from './operations.js';
import { paramsOf0_3, resultOf0_3 } from './version-0-3.js';

/** A `fetch` function: that of the platform, or one that adds credentials. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** An interface that a card lists. */
export interface AgentInterface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
  readonly tenant?: string | undefined;
}

/** The interface under test, and the settings of the caller. */
interface AgentWireOptions {
  readonly agentInterface: AgentInterface;
  readonly send: Send;
  /** Headers of every request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request before it is sent. */
export interface RawRequest {
  readonly url: string;
  readonly verb: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An operation with its parameters in the JSON of 1.0. */
export interface WireCall {
  readonly operation: OperationName;
  readonly params: Json;
  readonly signal: AbortSignal;
  /** Changes the request, for requests that no client makes. */
  readonly alter?: (request: RawRequest) => RawRequest;
}

/** An answer as it arrived. */
export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The JSON of the body; undefined if it is not JSON. */
  readonly body: unknown;
}

/** Time for an agent to close a stream after the task has ended, in ms. */
const CLOSING_MS = 1_000;
const FINAL_STATE = /^TASK_STATE_(?:COMPLETED|FAILED|CANCELED|REJECTED)$/;

/** Calls one interface of an agent over raw HTTP, with literal wire forms. */
export class AgentWire {
  readonly #options: AgentWireOptions;
  readonly isJsonRpc: boolean;
  readonly #isOld: boolean;

  constructor(options: AgentWireOptions) {
    this.#options = options;
    const { protocolBinding, protocolVersion } = options.agentInterface;
    this.isJsonRpc = protocolBinding === 'JSONRPC';
    this.#isOld = protocolVersion.startsWith('0.');
  }

  /** Makes a call and returns the answer as it arrived. */
  async raw(call: WireCall): Promise<RawAnswer> {
    return read(await this.#send(call, 'application/json'));
  }

  /**
   * Makes a call and returns its result in the JSON of 1.0.
   * @throws AgentRefusal if the agent answers with an error; Error if the answer has neither a result nor an error.
   */
  async result(call: WireCall): Promise<unknown> {
    return this.#result(call, await this.raw(call));
  }

  /**
   * Opens a stream.
   * @throws AgentRefusal if the agent answers with an error; Error if it answers with anything else than a stream.
   */
  async stream(call: WireCall): Promise<WireStream> {
    const leaving = new AbortController();
    const signal = AbortSignal.any([call.signal, leaving.signal]);
    const response = await this.#send({ ...call, signal }, 'text/event-stream');
    if (response.body !== null && typeOf(response).startsWith('text/event-stream')) {
      const eventIn = (data: string) =>
        this.#result(call, { status: 200, contentType: 'application/json', body: parsedJson(data) });
      return new WireStream({ body: response.body, leaving, eventIn });
    }
    this.#result(call, await read(response));
    throw new Error(`the answer to ${call.operation} is not an event stream but ${typeOf(response) || 'of no type'}`);
  }

  #result({ operation }: WireCall, { status, body }: RawAnswer): unknown {
    const error = memberOf(body, 'error');
    if (error !== undefined && error !== null) throw refusalOf(error, status);
    if (status > 299) throw refusalOf(body, status);
    // Errors of streams in 0.3 have their members at the top.
    if (!this.isJsonRpc && typeof memberOf(body, 'code') === 'number') throw refusalOf(body, status);
    if (this.isJsonRpc && !(isJson(body) && 'result' in body))
      throw new Error(`the answer to ${operation} has no result: ${excerptOf(body)}`);
    const result = this.isJsonRpc ? memberOf(body, 'result') : body;
    return this.#isOld ? resultOf0_3(operation, result) : result;
  }

  #send({ operation, params, signal, alter }: WireCall, accept: string): Promise<Response> {
    const { send, headers, agentInterface } = this.#options;
    const plain = this.#request(operation, params);
    const version = agentInterface.protocolVersion.split('.').slice(0, 2).join('.');
    const all = {
      accept,
      'a2a-version': version,
      ...(plain.body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const { url, verb, headers: sent, body } = alter?.({ ...plain, headers: all }) ?? { ...plain, headers: all };
    return send(url, { method: verb, headers: sent, signal, redirect: 'manual', ...(body !== undefined && { body }) });
  }

  #request(operation: OperationName, plain: Json): Omit<RawRequest, 'headers'> {
    const { url, tenant } = this.#options.agentInterface;
    const old = OPERATIONS_0_3[operation];
    if (this.#isOld && old === undefined) throw new Error(`0.3 has no ${operation}`);
    const [method, route] = this.#isOld && old !== undefined ? old : [operation, ROUTES_1_0[operation]];
    const tenanted = tenant === undefined || tenant === '' ? plain : { tenant, ...plain };
    const params = this.#isOld ? paramsOf0_3(operation, plain, this.isJsonRpc) : tenanted;
    if (this.isJsonRpc)
      return { url, verb: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 'parley-1', method, params }) };
    const { verb, path, body } = routedRequest(route, params);
    return { url: `${url.replace(/\/$/, '')}${path}`, verb, body };
  }
}

/** Parts of a stream that is open. */
interface OpenStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Closes the connection. */
  readonly leaving: AbortController;
  readonly eventIn: (data: string) => unknown;
}

/**
 * The events of a stream in the JSON of 1.0. If the agent keeps it open after the end of the task, it is closed a
 * second later.
 */
export class WireStream {
  readonly #open: OpenStream;
  /** True once the agent has closed the stream. */
  isClosed = false;

  constructor(open: OpenStream) {
    this.#open = open;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Json> {
    const { body, leaving, eventIn } = this.#open;
    const overdue = new Error('the stream is open after its task');
    let timer: NodeJS.Timeout | undefined;
    try {
      for await (const data of eventFrames(body)) {
        const event = eventIn(data);
        if (!isJson(event)) throw new Error(`an event is not an object: ${excerptOf(event)}`);
        yield event;
        if (isLast(event)) timer ??= setTimeout(() => leaving.abort(overdue), CLOSING_MS);
      }
      this.isClosed = true;
    } catch (error) {
      if (error !== overdue) throw error;
    } finally {
      clearTimeout(timer);
      leaving.abort();
    }
  }
}

function isLast(event: Json): boolean {
  if ('message' in event) return true;
  const status = memberOf(event.task ?? event.statusUpdate, 'status');
  return FINAL_STATE.test(String(memberOf(status, 'state')));
}

async function read(response: Response): Promise<RawAnswer> {
  const body = parsedJson(await response.text());
  return { status: response.status, contentType: typeOf(response), body };
}

function typeOf(response: Response): string {
  return response.headers.get('content-type') ?? '';
}
