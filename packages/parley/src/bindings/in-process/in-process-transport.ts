import { receivedChallenges } from '../../auth/challenge.js';
import type { ClientTransport, OpenedStream, TransportCall } from '../../client/client-transport.js';
import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { receivedError } from '../../errors/received-error.js';
import type { AgentInterface } from '../../model/agent-card.js';
import { cloneJson } from '../../model/clone-json.js';
import type { OperationTypes, StreamingOperationName, UnaryOperationName } from '../../operations/operations.js';
import type { Clock } from '../../runtime/clock.js';
import { callDirectly, type DirectReply } from '../direct/direct-binding.js';
import type { DirectAnswer, RequestDecoder } from '../direct/direct-call.js';
import { DirectRequest } from '../direct/direct-request.js';
import type { Exchange } from '../http/exchange.js';
import { serviceHeaders, withQuery } from '../http/service-parameters.js';
import { type CopyLimits, copiedRequest } from './copied-request.js';
import { InProcessEvents, type InProcessStreams } from './in-process-events.js';

/** Calls between two pauses. */
const BURST = 100;

/** The options of `InProcessTransport`. */
interface InProcessTransportOptions {
  readonly agentInterface: AgentInterface;
  /** Takes direct calls of the agent. */
  readonly exchange: Exchange;
  /** The path of the agent, for records. */
  readonly path: string;
  readonly decoder: RequestDecoder;
  readonly limits: CopyLimits;
  readonly streams: InProcessStreams;
  readonly clock: Clock;
  readonly heartbeatMs: number;
}

/**
 * Calls an agent of the same process through its host. Requests, responses and events are copied, so that neither side
 * sees changes of the other.
 */
export class InProcessTransport implements ClientTransport {
  readonly agentInterface: AgentInterface;
  readonly #options: InProcessTransportOptions;
  /** Calls since the last pause. */
  #burst = 0;

  constructor(options: InProcessTransportOptions) {
    this.agentInterface = options.agentInterface;
    this.#options = options;
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const { signal } = call;
    this.#burst += 1;
    if (this.#burst >= BURST) await this.#pause();
    const leave = new AbortController();
    const sent = this.#send(call, leave);
    const { answer, headers } = await (signal === undefined ? sent : untilAborted(sent, signal, leave));
    if (answer.kind === 'response') return cloneJson(answer.response) as OperationTypes[Name]['response'];
    throw errorOf(answer, headers);
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const { signal, opened } = call;
    const { streams, clock, heartbeatMs } = this.#options;
    const leave = new AbortController();
    const sent = this.#send(call, leave);
    const { answer, headers } = await (signal === undefined ? sent : untilAborted(sent, signal, leave));
    if (answer.kind !== 'stream') throw errorOf(answer, headers);
    const failure = (error: unknown) => (error instanceof A2AError ? copiedError(error, headers) : error);
    const left = () => leave.abort();
    const events = new InProcessEvents({
      items: answer.items,
      streams,
      clock,
      heartbeatMs,
      signal,
      left,
      failure,
    });
    opened?.();
    return { first: await events.next(), events };
  }

  /** Lets I/O and timers run. Otherwise a caller that polls a task would block its agent. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.soon(() => {
        this.#burst = 0;
        resolve();
      });
    });
  }

  #send(call: TransportCall, leave: AbortController): Promise<DirectReply> {
    call.signal?.throwIfAborted();
    const { exchange, path, streams } = this.#options;
    if (streams.isClosed)
      throw new ConnectionError('The server of the agent is closed', { sent: false, isFinal: true });
    const headers = lowerCaseNames(serviceHeaders(this.agentInterface.protocolVersion, call));
    return callDirectly(
      exchange,
      new DirectRequest({
        path,
        query: withQuery('', call.query).slice(1),
        header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
        headerLines: (name) => (Object.hasOwn(headers, name) ? 1 : 0),
        signal: leave.signal,
        call: { operation: call.operation, ...this.#copy(call.request) },
      }),
    );
  }

  /** The host refuses a request beyond a limit, as over a wire, and so records it. */
  #copy(request: unknown): { readonly value: unknown; readonly decoder: RequestDecoder } {
    const { decoder, limits } = this.#options;
    try {
      return { value: copiedRequest(request, limits), decoder };
    } catch (error) {
      if (!(error instanceof A2AError)) throw error;
      const refuse = (): never => {
        throw error;
      };
      return { value: undefined, decoder: { version: decoder.version, decode: refuse } };
    }
  }
}

/** The reply, unless the caller aborts before. A stream that opens later is closed. */
function untilAborted(sent: Promise<DirectReply>, signal: AbortSignal, leave: AbortController): Promise<DirectReply> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      leave.abort();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    sent.then(
      (reply) => {
        signal.removeEventListener('abort', abort);
        const { answer } = reply;
        if (signal.aborted && answer.kind === 'stream') void answer.items.return?.();
        resolve(reply);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort);
        reject(error);
      },
    );
  });
}

function errorOf(answer: DirectAnswer, headers: DirectReply['headers']): A2AError {
  if (answer.kind === 'error') return copiedError(answer.error, headers);
  return new A2AError('INTERNAL_ERROR', 'The agent answered in another form than the operation has');
}

/** An error as over a wire: without its cause, and in the class that the agent threw. */
function copiedError({ code, message, details }: A2AError, headers: DirectReply['headers']): A2AError {
  const { metadata, violations, retryAfterMs } = details;
  return receivedError({
    code,
    message,
    details: {
      ...(metadata !== undefined && Object.keys(metadata).length > 0 && { metadata: { ...metadata } }),
      ...(violations !== undefined &&
        violations.length > 0 && {
          violations: violations.map(({ field, description }) => ({ field, description })),
        }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    challenges: receivedChallenges({ get: (name) => headers[name] ?? null }),
  });
}

/** The headers by lower-case name: callers may use other cases. */
function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = Object.keys(headers);
  if (names.every((name) => name === name.toLowerCase())) return headers;
  return Object.fromEntries(names.map((name) => [name.toLowerCase(), headers[name] as string]));
}
