import { createRequire } from 'node:module';
import { type DescFile, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import type * as Grpc from '@grpc/grpc-js';
import { afterEach } from 'vitest';
import { type GrpcBindingOptions, grpcBinding } from '../../packages/grpc/src/index.js';
import {
  a2aV1A2a,
  googleRpcErrorDetails,
  googleRpcStatus,
  grpcHealthV1Health,
  lfA2aV1A2a,
} from '../../packages/grpc/src/protobuf/descriptors.generated.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentExecutor } from '../../packages/parley/src/exports/server.js';

/** The package is CommonJS. `require` gives all of its names. */
export const grpc: typeof Grpc = createRequire(import.meta.url)('@grpc/grpc-js');

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Runs after the test, the last one first. */
export function afterTest(close: () => unknown): void {
  closers.push(close);
}

/** A served agent. */
export interface GrpcWorld {
  readonly url: string;
  /** `host:port` of gRPC. */
  readonly address: string;
  readonly port: number;
  readonly server: ReturnType<typeof createA2AServer>;
}

/** An agent that echoes; `task` makes a task with an artifact. */
const talker: AgentExecutor = {
  replies: 'either',
  async execute({ text }, events) {
    if (text !== 'task') return void (await events.message(`You said: ${text}`));
    await events.working();
    const id = await events.artifact('one', { name: 'words' });
    await events.append(id, 'two');
    await events.complete();
  },
};

/** Options of a server, with an executor as its agent. */
export type ServedOptions = Omit<Partial<A2AServerOptions>, 'agent' | 'handler'> & { readonly agent?: AgentExecutor };

/** Starts a server with gRPC on a free port. */
export async function serve(options: ServedOptions = {}, binding: GrpcBindingOptions = {}): Promise<GrpcWorld> {
  const server = createA2AServer({
    agent: talker,
    versions: ['1.0', '0.3'],
    logger: silent,
    ...options,
    bindings: [grpcBinding({ port: 0, ...binding })],
  } as unknown as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const { url: address = '' } = server.interfaces.find((one) => one.protocolBinding === 'GRPC') ?? {};
  return { url, address, port: Number(address.split(':').at(-1)), server };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** An answer with its metadata. */
export interface Answered {
  readonly value: JsonValue;
  readonly metadata: Grpc.Metadata;
}

/** A failed call, with its decoded details. */
export interface Failed {
  readonly code: string;
  readonly message: string;
  readonly metadata: Grpc.Metadata;
  /** The decoded `google.rpc.Status`. */
  readonly status: { readonly code?: number; readonly message?: string } | undefined;
  readonly details: readonly Detail[];
}

/** One detail, named by its type. */
export interface Detail {
  readonly type: string;
  readonly value: JsonValue;
}

/** A client of grpc-js for a service, with JSON for messages. It uses no code of ours. */
export class GrpcTester {
  readonly #client: Grpc.Client;
  readonly #file: DescFile;

  constructor(
    address: string,
    { file = lfA2aV1A2a, credentials = grpc.credentials.createInsecure(), options = {} } = {} as TesterOptions,
  ) {
    this.#file = file;
    this.#client = new grpc.Client(address, credentials, options);
    closers.push(() => this.#client.close());
  }

  get raw(): Grpc.Client {
    return this.#client;
  }

  #method(name: string) {
    const service = this.#file.services[0];
    const method = service?.methods.find((one) => one.name === name);
    if (service === undefined || method === undefined) throw new Error(`no method ${name}`);
    return {
      path: `/${service.typeName}/${name}`,
      write: (value: JsonValue) => Buffer.from(toBinary(method.input, fromJson(method.input, value))),
      read: (bytes: Buffer) => toJson(method.output, fromBinary(method.output, bytes)),
    };
  }

  /** A unary call; rejects with a `Failed`. */
  call(
    name: string,
    request: JsonValue,
    metadata: Readonly<Record<string, string>> = {},
    options: Grpc.CallOptions = {},
  ): Promise<Answered> {
    const { path, write, read } = this.#method(name);
    return new Promise((resolve, reject) => {
      let headers = new grpc.Metadata();
      this.#client
        .makeUnaryRequest(path, write, read, request, metadataOf(metadata), options, (error, value) => {
          if (error) reject(failureOf(error));
          else resolve({ value: value ?? null, metadata: headers });
        })
        .on('metadata', (received) => {
          headers = received;
        });
    });
  }

  /** A streaming call. */
  stream(
    name: string,
    request: JsonValue,
    metadata: Readonly<Record<string, string>> = {},
    options: Grpc.CallOptions = {},
  ): Grpc.ClientReadableStream<JsonValue> {
    const { path, write, read } = this.#method(name);
    return this.#client.makeServerStreamRequest(path, write, read, request, metadataOf(metadata), options);
  }

  /** All events of a streaming call. */
  async events(
    name: string,
    request: JsonValue,
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<JsonValue[]> {
    const events: JsonValue[] = [];
    try {
      for await (const event of this.stream(name, request, metadata)) events.push(event as JsonValue);
    } catch (error) {
      throw failureOf(error as Grpc.ServiceError);
    }
    return events;
  }
}

interface TesterOptions {
  readonly file?: DescFile;
  readonly credentials?: Grpc.ChannelCredentials;
  readonly options?: Grpc.ClientOptions;
}

/** The files of the services. */
export const FILES = { current: lfA2aV1A2a, legacy: a2aV1A2a, health: grpcHealthV1Health };

function metadataOf(entries: Readonly<Record<string, string>>): Grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
  return metadata;
}

/** A failed call in words. */
export function failureOf(error: Grpc.ServiceError): Failed {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const [statusType] = googleRpcStatus.messages;
  const detailsType = new Map(googleRpcErrorDetails.messages.map((one) => [one.typeName, one]));
  let status: Failed['status'];
  let details: readonly Detail[] = [];
  if (Buffer.isBuffer(bytes) && statusType !== undefined) {
    const message = fromBinary(statusType, bytes) as unknown as {
      code: number;
      message: string;
      details: { typeUrl: string; value: Uint8Array }[];
    };
    status = { code: message.code, message: message.message };
    details = message.details.map(({ typeUrl, value }) => {
      const type = typeUrl.replace('type.googleapis.com/', '');
      const desc = detailsType.get(type);
      return {
        type: type.split('.').at(-1) ?? '',
        value: desc === undefined ? null : toJson(desc, fromBinary(desc, value)),
      };
    });
  }
  return {
    code: grpc.status[error.code] ?? String(error.code),
    message: error.details,
    metadata: error.metadata,
    status,
    details,
  };
}

/** The failure of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<Failed> {
  try {
    await call;
  } catch (error) {
    if (error !== null && typeof error === 'object' && 'details' in error && 'code' in error) return error as Failed;
    throw error;
  }
  throw new Error('the call succeeded');
}

/** A message of a user. */
export function message(text: string): { readonly [key: string]: JsonValue } {
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
}

/** Does something, and then lets nothing run in this process for a time in ms. Its timers are due first after it. */
export function standStillAfter(act: () => void, ms: number): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      act();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      resolve();
    });
  });
}
