import {
  type ClientTransport,
  MissingOperationError,
  type OpenedStream,
  type TransportCall,
} from '../../client/client-transport.js';
import type { ClientCodec } from '../../codec/client-codec.js';
import type { Route } from '../../codec/wire-codec.js';
import type { A2AError } from '../../errors/a2a-error.js';
import type { AgentInterface } from '../../model/agent-card.js';
import { isObject } from '../../model/json.js';
import type { OperationTypes, StreamingOperationName, UnaryOperationName } from '../../operations/operations.js';
import { addressOf } from '../../operations/request-address.js';
import { isLegacy } from '../../operations/versions.js';
import { answerBounds, type HttpCaller, readAnswer, sendRequest } from '../http/http-caller.js';
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../http/media-type.js';
import { openedStream } from '../http/opened-stream.js';
import { bodyValue, isText, strangeAnswer } from '../http/received-answer.js';
import { serviceHeaders, withQuery } from '../http/service-parameters.js';
import { A2A_JSON_TYPE } from './media-types.js';
import { errorOf } from './received-errors.js';

/** The options of `HttpJsonTransport`. */
export interface HttpJsonTransportOptions {
  readonly agentInterface: AgentInterface;
  readonly codec: ClientCodec;
  readonly caller: HttpCaller;
}

/** Calls an agent over HTTP+JSON (Spec §11). */
export class HttpJsonTransport implements ClientTransport {
  readonly agentInterface: AgentInterface;
  readonly #codec: ClientCodec;
  readonly #caller: HttpCaller;
  /** Routes whose method the server has refused. */
  readonly #refused = new Set<Route>();

  constructor({ agentInterface, codec, caller }: HttpJsonTransportOptions) {
    this.agentInterface = agentInterface;
    this.#codec = codec;
    this.#caller = caller;
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const response = await this.#send(
      call,
      isLegacy(this.#codec.version) ? JSON_TYPE : `${A2A_JSON_TYPE}, ${JSON_TYPE}`,
    );
    return this.#codec.decodeResponse(call.operation, await this.#value(response, call));
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const response = await this.#send(call, EVENT_STREAM_TYPE);
    const decode = (text: string) => this.#codec.decodeEvent(contentOf(response, text));
    const { signal, opened } = call;
    return openedStream({ response, caller: this.#caller, signal, opened, decode });
  }

  async #value(response: Response, { operation, signal }: TransportCall): Promise<unknown> {
    const text = await readAnswer(response, { ...answerBounds(this.#caller, operation), signal });
    // The answer to a deletion may be empty.
    return text === '' && operation === 'deleteTaskPushNotificationConfig' ? {} : contentOf(response, text);
  }

  /**
   * Tries the routes of the operation until the server accepts the method. Spec §5.3 and the prose name different
   * methods.
   */
  async #send(call: TransportCall, accept: string): Promise<Response> {
    const left = this.#codec.routesOf(call.operation).filter((route) => !this.#refused.has(route));
    for (const route of left) {
      const response = await this.#sendBy(route, call, accept);
      if (response.ok) return response;
      const text = await readAnswer(response, { ...answerBounds(this.#caller, call.operation), signal: call.signal });
      const isLast = route === left.at(-1);
      if (response.status !== 405 || isLast) throw failureOf(response, text, call);
      this.#refused.add(route);
    }
    throw new MissingOperationError(this.agentInterface, call.operation, 'HTTP+JSON');
  }

  #sendBy(route: Route, call: TransportCall, accept: string): Promise<Response> {
    const { url, protocolVersion: version } = this.agentInterface;
    const value = this.#codec.encodeRequest(call.operation, call.request);
    const { path, query, body } = routeRequest(route, value);
    const base = url.replace(/(?<!\/)\/+$/, '');
    const headers: Record<string, string> = { ...serviceHeaders(version, call), accept };
    if (body !== undefined) headers['content-type'] = isLegacy(version) ? JSON_TYPE : A2A_JSON_TYPE;
    return sendRequest(this.#caller, {
      url: withQuery(base + path, { ...query, ...call.query }),
      method: route.method,
      headers,
      body,
      signal: call.signal,
    });
  }
}

/**
 * The value of a body or a frame. Throws the error that it may hold instead: a string under `error` or a like name,
 * which no value of the protocol has.
 */
function contentOf(response: Response, text: string): unknown {
  const value = bodyValue(text);
  if (!isObject(value)) throw strangeAnswer(response, text);
  const { error, message, detail } = value;
  if (isObject(error) || [error, message, detail].some(isText)) throw errorOf(response, value);
  return value;
}

function failureOf(response: Response, text: string, { request }: TransportCall): A2AError {
  const value = bodyValue(text);
  if (!isObject(value)) return strangeAnswer(response, text);
  return errorOf(response, value, addressOf(request).taskId !== undefined);
}

/** The parts of a request on its route. */
interface RoutedRequest {
  /** Below the interface url; begins with `/`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Distributes the members of a request over path, query and body. */
function routeRequest({ path, body }: Route, value: Readonly<Record<string, unknown>>): RoutedRequest {
  const rest: Record<string, unknown> = { ...value };
  const segments = path.map((segment) =>
    segment.replace(/\{(\w+)\}/, (_, name: string) => {
      const member = String(rest[name] ?? '');
      delete rest[name];
      return encodeURIComponent(member);
    }),
  );
  // A tenant with a slash cannot stand in a path (Spec §11.5): it stays a member.
  if (typeof rest.tenant === 'string' && rest.tenant !== '' && !rest.tenant.includes('/')) {
    segments.unshift(encodeURIComponent(rest.tenant));
    delete rest.tenant;
  }
  const whole = `/${segments.join('/')}`;
  if (body !== 'none') return { path: whole, query: {}, body: JSON.stringify(rest) };
  const query: Record<string, string> = {};
  for (const [name, member] of Object.entries(rest)) if (member !== undefined) query[name] = String(member);
  return { path: whole, query, body: undefined };
}
