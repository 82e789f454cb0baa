import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { protobufV1_0 } from '../../packages/grpc/src/protobuf/v1_0.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../packages/parley/src/model/task.js';

/** A received call. */
export interface GrpcStubCall {
  readonly method: string;
  readonly metadata: Metadata;
  readonly request: Buffer;
  /** The time that the client gives the call, in ms; Infinity without a deadline. */
  readonly leftMs: number;
  /** Aborted when the client cancels the call or goes away. */
  readonly gone: AbortSignal;
  /** Number of calls of this stub so far, from 1. */
  readonly number: number;
}

/** The answers of a stub, by kind of call. A thrown status ends the call. */
export interface GrpcStubAnswers {
  readonly unary?: (call: GrpcStubCall) => Promise<Uint8Array> | Uint8Array;
  readonly stream?: (call: GrpcStubCall, rpc: ServerWritableStream<Buffer, Buffer>) => Promise<void> | void;
}

const STREAMS: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);
const asIs = (bytes: Buffer): Buffer => bytes;

/** A server of the service of 1.0 that answers as a test says, and records its calls. */
export class GrpcStub implements AsyncDisposable {
  readonly calls: GrpcStubCall[] = [];
  readonly #server = new Server();
  /** `host:port`. */
  address = '';

  /** Listens on a free port of loopback. */
  static async start(answers: GrpcStubAnswers, credentials = ServerCredentials.createInsecure()): Promise<GrpcStub> {
    const stub = new GrpcStub();
    const { unary = () => new Uint8Array(), stream = (_, rpc) => rpc.end() } = answers;
    const record = (rpc: ServerUnaryCall<Buffer, Buffer>, method: string, gone: AbortSignal) => {
      const { metadata, request } = rpc;
      const leftMs = Number(rpc.getDeadline()) - Date.now();
      const call = { method, metadata, request, leftMs, gone, number: stub.calls.length + 1 };
      stub.calls.push(call);
      return call;
    };
    const definition: Record<string, ServiceDefinition[string]> = {};
    const handlers: Record<string, never> = {};
    for (const method of protobufV1_0.methods.keys()) {
      const responseStream = STREAMS.has(method);
      definition[method] = {
        path: `/${protobufV1_0.service}/${method}`,
        requestStream: false,
        responseStream,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      };
      const handle = async (rpc: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => {
        const gone = new AbortController();
        rpc.on('cancelled', () => gone.abort());
        const call = record(rpc, method, gone.signal);
        try {
          if (responseStream) await stream(call, rpc as never);
          else reply(null, Buffer.from(await unary(call)));
        } catch (error) {
          if (responseStream) rpc.emit('error', error);
          else reply(error as never);
        }
      };
      handlers[method] = handle as never;
    }
    stub.#server.addService(definition, handlers);
    const port = await new Promise<number>((resolve, reject) => {
      stub.#server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    stub.address = `127.0.0.1:${port}`;
    return stub;
  }

  /** A card whose only interface is the stub. */
  card(members: Partial<AgentCard> = {}, url = this.address): AgentCard {
    return {
      name: 'Stub',
      description: '',
      version: '1',
      supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      ...members,
    };
  }

  /** Ends all connections. */
  cut(): void {
    this.#server.forceShutdown();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

/** A task as bytes. */
export function taskBytes(task: Task): Uint8Array {
  return protobufV1_0.encode('getTask', task);
}

/** An event as bytes, with its sequence number if there is one. */
export function eventBytes(event: StreamResponse, seq?: number): Buffer {
  return Buffer.from(
    protobufV1_0.encodeEvent({ event, ...(seq !== undefined && { seq }) } as never, seq !== undefined),
  );
}
