import type { Socket } from 'node:net';
import type { DescFile } from '@bufbuild/protobuf';
import {
  type AgentMount,
  callDirectly,
  directWay,
  type HostView,
  serverTls,
  type TlsOptions,
} from 'parley-a2a/binding-kit';
import type { Exchange } from 'parley-a2a/server';
import { GrpcRequest } from '../binding/grpc-request.js';
import { grpcRoutes } from '../binding/grpc-routes.js';
import { GRPC_STATUS } from '../binding/grpc-status.js';
import { errorTrailers, metadataOf, plainTrailers } from '../binding/grpc-trailers.js';
import { HEALTH } from '../binding/health-messages.js';
import { REFLECTION_SERVICES, reflection } from '../binding/reflection.js';
import type { ProtobufCodec } from '../protobuf/protobuf-codec.js';
import type { GrpcConnection } from './grpc-connection.js';
import type { GrpcBindingOptions } from './grpc-options.js';
import { GrpcServer } from './grpc-server.js';
import type { GrpcHandler, GrpcStream } from './grpc-stream.js';
import { GrpcHealth, HealthCall } from './health-call.js';
import { OperationCall } from './operation-call.js';
import { ReflectionCall } from './reflection-call.js';

/** The messages of all versions, and the descriptors of all served files. */
interface GrpcCodecs {
  readonly codecs: readonly ProtobufCodec[];
  readonly files: readonly DescFile[];
}

/** Loads the messages when a server starts. */
export type LoadGrpcCodecs = () => Promise<GrpcCodecs>;

/** An agent, and the settings to serve it with. */
interface ServedGrpcSetup {
  readonly host: HostView;
  readonly mount: AgentMount;
  readonly tls: TlsOptions | undefined;
  readonly options: GrpcBindingOptions;
  readonly codecs: GrpcCodecs;
}

/** A served agent. */
export interface ServedGrpc {
  /** Resolves with the port. */
  listen(address: { readonly host: string; readonly port: number; readonly orAnotherPort: boolean }): Promise<number>;
  /** Serves only connections that another server passes on. */
  start(): void;
  take(socket: Socket): void;
  stopAccepting(): void;
  close(graceMs: number): Promise<void>;
}

/** Serves an agent: its operations, health and reflection. */
export function serveGrpc({ host, mount, tls, options, codecs: { codecs, files } }: ServedGrpcSetup): ServedGrpc {
  const { clock, logger, readiness } = host;
  const offered = codecs.filter(({ version }) => (mount.versions as readonly string[]).includes(version));
  const routes = grpcRoutes(codecs);
  const exchange = directWay(host, mount, 'GRPC');
  const isHealthy = options.health !== false;
  const services = [...offered.map(({ service }) => service), ...(isHealthy ? [HEALTH.service] : [])];
  const health = new GrpcHealth({
    isReady: async () => (await readiness.report()).status === 'ready',
    services,
    clock,
  });
  const further = furtherHandlers({ options, exchange, health, files, services });
  const handlerOf = (stream: GrpcStream, connection: GrpcConnection): GrpcHandler => {
    const { path } = stream;
    const route = routes.get(path);
    if (route !== undefined) return new OperationCall({ stream, route, exchange, connection, logger });
    return further.get(path)?.(stream) ?? new UnknownCall(stream, exchange);
  };
  const make = () =>
    new GrpcServer({
      handlerOf,
      connection: {
        maxStreams: options.maxStreams ?? 1_000,
        keepAliveMs: options.keepAliveMs ?? 60_000,
        keepAliveTimeoutMs: options.keepAliveTimeoutMs ?? 20_000,
        idleMs: options.idleMs ?? 300_000,
        headersMs: options.headersMs ?? 15_000,
      },
      maxConnections: options.maxConnections ?? 1_000,
      maxCalls: options.maxCalls ?? 10_000,
      maxMetadataBytes: options.maxMetadataBytes ?? 16_384,
      maxMessageBytes: options.maxMessageBytes ?? mount.bindingContext().limits.bodyBytes,
      waitingBytes: options.waitingBytes ?? 128 * 1024 * 1024,
      stallMs: options.stallMs ?? 30_000,
      requestMs: options.requestMs ?? 120_000,
      limitReached: (limit, caller) => mount.bindingContext().limitReached?.({ limit, caller }),
      tls: tls && serverTls({ tls, clock, logger }),
      clock,
      logger,
    });
  let server = make();
  return {
    async listen({ orAnotherPort, ...address }) {
      try {
        return await server.listen(address);
      } catch (error) {
        if (!orAnotherPort || (error as { readonly code?: unknown }).code !== 'EADDRINUSE') throw error;
        server = make();
        return server.listen({ ...address, port: 0 });
      }
    },
    start: () => server.start(),
    take: (socket) => server.take(socket),
    stopAccepting() {
      health.stop();
      server.stopAccepting();
    },
    close: (graceMs) => server.close(graceMs),
  };
}

type MakeHandler = (stream: GrpcStream) => GrpcHandler;

interface FurtherServices {
  readonly options: GrpcBindingOptions;
  readonly exchange: ReturnType<typeof directWay>;
  readonly health: GrpcHealth;
  readonly files: readonly DescFile[];
  readonly services: readonly string[];
}

/** Health and reflection, by path. */
function furtherHandlers({
  options,
  exchange,
  health,
  files,
  services,
}: FurtherServices): ReadonlyMap<string, MakeHandler> {
  const handlers = new Map<string, MakeHandler>();
  if (options.health !== false) {
    handlers.set(HEALTH.check, (stream) => new HealthCall(stream, health, false));
    handlers.set(HEALTH.watch, (stream) => new HealthCall(stream, health, true));
  }
  if (options.reflection !== false) {
    const answer = reflection({ files, services: [...services, ...REFLECTION_SERVICES] });
    for (const service of REFLECTION_SERVICES) {
      handlers.set(`/${service}/ServerReflectionInfo`, (stream) => new ReflectionCall({ stream, exchange, answer }));
    }
  }
  return handlers;
}

/** A call of an unknown method. A caller without a credential learns only that one is required. */
class UnknownCall implements GrpcHandler {
  readonly isEarly = true;
  readonly #stream: GrpcStream;
  readonly #exchange: Exchange;

  constructor(stream: GrpcStream, exchange: Exchange) {
    this.#stream = stream;
    this.#exchange = exchange;
  }

  ready(): void {
    void this.#refuse();
  }

  over(): void {}

  stop(): void {}

  async #refuse(): Promise<void> {
    const stream = this.#stream;
    const { answer, headers } = await callDirectly(this.#exchange, new GrpcRequest(stream, stream.path));
    const metadata = metadataOf(headers);
    if (answer.kind === 'error') return stream.end(errorTrailers(answer.error, { version: '1.0' }), metadata);
    const method = stream.path.slice(0, 200);
    stream.end(plainTrailers(GRPC_STATUS.UNIMPLEMENTED, `The method ${method} is not served here`), metadata);
  }
}
