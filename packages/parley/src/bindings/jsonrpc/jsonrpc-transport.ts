import {
  type ClientTransport,
  MissingOperationError,
  type OpenedStream,
  type TransportCall,
} from '../../client/client-transport.js';
import type { ClientCodec } from '../../codec/client-codec.js';
import type { AgentInterface } from '../../model/agent-card.js';
import { isObject } from '../../model/json.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../../operations/operations.js';
import { answerBounds, type HttpCaller, readAnswer, sendRequest } from '../http/http-caller.js';
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../http/media-type.js';
import { openedStream } from '../http/opened-stream.js';
import { bodyValue, strangeAnswer } from '../http/received-answer.js';
import { serviceHeaders, withQuery } from '../http/service-parameters.js';
import { errorOf } from './received-errors.js';

/** The options of `JsonRpcTransport`. */
export interface JsonRpcTransportOptions {
  readonly agentInterface: AgentInterface;
  readonly codec: ClientCodec;
  readonly caller: HttpCaller;
}

/** Calls an agent over JSON-RPC (Spec §9). */
export class JsonRpcTransport implements ClientTransport {
  readonly agentInterface: AgentInterface;
  readonly #codec: ClientCodec;
  readonly #caller: HttpCaller;
  #lastId = 0;

  constructor({ agentInterface, codec, caller }: JsonRpcTransportOptions) {
    this.agentInterface = agentInterface;
    this.#codec = codec;
    this.#caller = caller;
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const response = await this.#send(call, JSON_TYPE);
    const text = await readAnswer(response, { ...answerBounds(this.#caller, call.operation), signal: call.signal });
    return this.#codec.decodeResponse(call.operation, resultOf(response, text));
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const response = await this.#send(call, EVENT_STREAM_TYPE);
    const decode = (text: string) => this.#codec.decodeEvent(resultOf(response, text));
    const { signal, opened } = call;
    return openedStream({ response, caller: this.#caller, signal, opened, decode });
  }

  #send(call: TransportCall, accept: string): Promise<Response> {
    const { url, protocolVersion } = this.agentInterface;
    const { operation, request, query, signal } = call;
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: ++this.#lastId,
      method: this.#method(operation),
      params: this.#codec.encodeRequest(operation, request),
    });
    const headers = serviceHeaders(protocolVersion, call);
    headers['content-type'] = JSON_TYPE;
    headers.accept = accept;
    return sendRequest(this.#caller, {
      url: withQuery(url, query),
      method: 'POST',
      headers,
      body,
      signal,
    });
  }

  #method(operation: OperationName): string {
    const method = this.#codec.methodOf(operation);
    if (method !== undefined) return method;
    throw new MissingOperationError(this.agentInterface, operation, 'JSON-RPC');
  }
}

/**
 * The result of a response; throws its error, also if that has no envelope. The answer to a deletion may have no
 * result.
 */
function resultOf(response: Response, text: string): unknown {
  const envelope = bodyValue(text);
  if (!isObject(envelope)) throw strangeAnswer(response, text);
  const { jsonrpc, error, result, code } = envelope;
  if (error !== undefined && error !== null) throw errorOf(response, error);
  if (jsonrpc !== undefined) return result;
  throw typeof code === 'number' ? errorOf(response, envelope) : strangeAnswer(response, text);
}
