import type {
  ClientReadableStream,
  ClientUnaryCall,
  Client as GrpcClient,
  Metadata,
  ServiceError,
} from '@grpc/grpc-js';
import type { AgentInterface } from 'parley-a2a';
import {
  answerBounds,
  LinkedList,
  MissingOperationError,
  type OpenedStream,
  type OperationTypes,
  reasonOf,
  type StreamingOperationName,
  serviceHeaders,
  type TransportCall,
  type UnaryOperationName,
} from 'parley-a2a/binding-kit';
import type { ClientTransport, TransportLimits } from 'parley-a2a/client';
import { A2AError, ConnectionError } from 'parley-a2a/kit';
import type { ProtobufClientCodec } from '../protobuf/protobuf-codec.js';
import { EventBatchReader } from './event-batches.js';
import { type GrpcAddress, hostAndPort } from './grpc-address.js';
import type { GrpcChannel, GrpcChannels } from './grpc-channels.js';
import { statusError } from './received-status.js';

/** The options of `GrpcTransport`. */
interface GrpcTransportSetup {
  readonly agentInterface: AgentInterface;
  readonly place: GrpcAddress;
  readonly codec: ProtobufClientCodec;
  readonly channels: GrpcChannels;
  readonly limits: TransportLimits;
  /** The time of the system, in ms since the epoch. */
  readonly now: () => number;
}

/** Calls an agent over gRPC (Spec §10). Its channel is opened by the first call. */
export class GrpcTransport implements ClientTransport {
  readonly agentInterface: AgentInterface;
  readonly address: string;
  readonly declaresResumption = true;
  readonly #setup: GrpcTransportSetup;
  readonly #calls = new LinkedList<GrpcCall>();
  #opening: Promise<GrpcChannel> | undefined;
  #isClosed = false;

  /** @throws ConnectionError if the address may not be called without TLS. */
  constructor(parts: GrpcTransportSetup) {
    this.agentInterface = parts.agentInterface;
    this.#setup = parts;
    const { place, channels } = parts;
    this.address = `${channels.isSecure(place) ? 'https' : 'http'}://${hostAndPort(place)}`;
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const { codec, limits } = this.#setup;
    const channel = await this.#channel(call.signal);
    const { client } = channel;
    const { path, message, metadata } = this.#request(call, channel);
    const { signal } = call;
    const reply = await new Promise<Buffer>((resolve, reject) => {
      const until = this.#until(call);
      const rpc = client.makeUnaryRequest(path, asIs, asIs, message, metadata, until, (error, value) => {
        this.#calls.remove(place);
        signal?.removeEventListener('abort', abort);
        if (signal?.aborted) reject(signal.reason);
        else if (error !== null) reject(this.#failure(error, { rpc, client, call }));
        else resolve(value ?? Buffer.alloc(0));
      });
      const abort = () => rpc.cancel();
      const place = this.#calls.add(rpc);
      signal?.addEventListener('abort', abort, { once: true });
    });
    const { limit, items } = answerBounds(limits, call.operation);
    if (reply.length > limit) throw tooLong('answer', limit);
    return codec.decodeResponse(call.operation, reply, items);
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const { codec, limits } = this.#setup;
    const channel = await this.#channel(call.signal);
    const { client } = channel;
    const { path, message, metadata } = this.#request(call, channel);
    const until = this.#until(call);
    const rpc: ClientReadableStream<Buffer> = client.makeServerStreamRequest(
      path,
      asIs,
      asIs,
      message,
      metadata,
      until,
    );
    const place = this.#calls.add(rpc);
    rpc.once('metadata', () => call.opened?.());
    const events = new EventBatchReader({
      rpc,
      signal: call.signal,
      decode: (bytes) => {
        if (bytes.length > limits.eventBytes) throw tooLong('event', limits.eventBytes);
        // An empty message is a keep-alive.
        return bytes.length === 0 ? undefined : codec.decodeEvent(bytes, limits.answerItems);
      },
      failure: (error) => this.#failure(error as ServiceError, { rpc, client, call }),
      onClose: () => this.#calls.remove(place),
    });
    return { first: await events.next(), events };
  }

  /** Ends the calls of this transport, and the channel if no other client uses it. */
  close(): void {
    this.#isClosed = true;
    for (const rpc of this.#calls.values()) rpc.cancel();
    this.#drop(this.#opening);
  }

  #request(call: TransportCall, channel: GrpcChannel): GrpcRequest {
    const { operation, request, query } = call;
    const { codec } = this.#setup;
    const method = codec.methodOf(operation);
    const { protocolVersion } = this.agentInterface;
    if (method === undefined) throw new MissingOperationError(this.agentInterface, operation, 'gRPC');
    if (query !== undefined && Object.keys(query).length > 0) {
      throw new A2AError(
        'UNAUTHENTICATED',
        `${this.#name} wants a credential in the query of the url, which gRPC does not have. Choose another binding`,
      );
    }
    const metadata = channel.newMetadata();
    for (const [name, value] of Object.entries(serviceHeaders(protocolVersion, call))) {
      if (OF_CONNECTION.test(name)) continue;
      try {
        metadata.set(name, value);
      } catch {
        // The error message of the library quotes the value, which may be a credential.
        throw new ConnectionError(`${this.#name} is not called: the header ${name} cannot be sent`, { sent: false });
      }
    }
    const bytes = codec.encodeRequest(operation, request);
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { path: `/${codec.service}/${method}`, message, metadata };
  }

  /** The time limit, which the library sends as `grpc-timeout`. */
  #until({ timeLimit }: TransportCall): { readonly deadline?: number } {
    return timeLimit === undefined ? {} : { deadline: this.#setup.now() + timeLimit.remainingMs() };
  }

  async #channel(signal: AbortSignal | undefined): Promise<GrpcChannel> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new ConnectionError(`The connection to ${this.#name} is closed`, { sent: false });
    const { channels, place, limits } = this.#setup;
    const opening = this.#opening ?? channels.open(place, limits);
    this.#opening = opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    } finally {
      signal?.throwIfAborted();
    }
  }

  /** The error for the caller. After a failed connection, the next call looks the name up again and connects anew. */
  #failure(error: ServiceError, { rpc, client, call: { operation, timeLimit } }: FailedCall): unknown {
    const { code, details, metadata } = error;
    // The library and the agent know the time limit, too, and may end the call before the signal.
    if (code === DEADLINE_EXCEEDED && timeLimit !== undefined && timeLimit.remainingMs() < EARLY_MS)
      return timeLimit.error();
    const isUnsent = rpc.getPeer() === client.getChannel().getTarget();
    if (this.#isClosed) return new ConnectionError(`The connection to ${this.#name} was closed`, { sent: !isUnsent });
    if (code === UNAVAILABLE && isUnsent) {
      this.#drop(this.#opening);
      this.#opening = undefined;
      const message = `${this.#name} cannot be reached: ${reasonIn(details)}`;
      return new ConnectionError(message, { sent: false, cause: error });
    }
    if (BROKEN.test(details))
      return new ConnectionError(`The connection to ${this.#name} broke off: ${details}`, { sent: true, cause: error });
    if (TOO_LONG.test(details)) return new A2AError('INVALID_AGENT_RESPONSE', `The answer is too long: ${details}`);
    const { protocolVersion: version } = this.agentInterface;
    return statusError({ code, details, trailers: (key) => metadata.get(key) }, { version, operation });
  }

  #drop(opening: Promise<GrpcChannel> | undefined): void {
    opening?.then(
      (channel) => channel.release(),
      () => {},
    );
  }

  get #name(): string {
    return hostAndPort(this.#setup.place);
  }
}

type GrpcCall = ClientUnaryCall | ClientReadableStream<Buffer>;

interface GrpcRequest {
  readonly path: string;
  readonly message: Buffer;
  readonly metadata: Metadata;
}

interface FailedCall {
  readonly rpc: GrpcCall;
  readonly client: GrpcClient;
  readonly call: TransportCall;
}

const DEADLINE_EXCEEDED = 4;
/** Tolerance for clocks of two processes that run at different speeds, in ms. */
const EARLY_MS = 50;
const UNAVAILABLE = 14;
/** Headers of the connection and of gRPC itself. */
const OF_CONNECTION =
  /^(?::.*|grpc-.*|connection|content-length|content-type|host|keep-alive|te|transfer-encoding|upgrade)$/;
/** Messages of grpc-js for a connection that ended before the status of the call. */
const BROKEN =
  /^(?:Connection dropped|Stream refused by server|Received RST_STREAM with code|Call ended without gRPC status|(?:read|write) E[A-Z]+)/;
/** Messages of grpc-js for a message over the limit. */
const TOO_LONG = /^Received message (?:larger than max|that decompresses to a size larger than)/;
/** An error code of Node.js as a word of such a message. */
const CODE = /^(?:E[A-Z_]{4,}|ERR_[A-Z_]+|(?:CERT|DEPTH|SELF|UNABLE)_[A-Z_]+)$/;

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

function tooLong(what: string, limit: number): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `The ${what} is longer than ${limit} bytes`);
}

/** The reason in a message of grpc-js, for people. */
function reasonIn(details: string): string {
  if (details.startsWith('Name resolution failed')) return 'there is no such host';
  const code = details.split(/[^A-Z_]/).find((word) => CODE.test(word));
  if (code !== undefined) return reasonOf(Object.assign(new Error(code), { code }));
  const [, last = details] = details.split('Last error: ');
  return last.split('. Resolution note')[0]?.replace('Error: ', '') ?? details;
}
