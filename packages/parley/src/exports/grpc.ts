import { systemLookup } from '../adapters/node/checked-connections.js';
import { GrpcChannels, type GrpcTls } from '../bindings/grpc/grpc-channels.js';
import type { ClientBinding } from '../client/client-transport.js';
import type { ProtobufClientCodec } from '../codec/protobuf/protobuf-codec.js';
import { OptionsError } from '../errors/options-error.js';
import { grpcAddress } from '../net/grpc-address.js';

export type { HostExtension } from '../app/host-extension.js';
export type { GrpcBindingOptions } from '../app/options/grpc-options.js';
export type { TlsOptions } from '../app/options/tls-options.js';
export type { GrpcTls } from '../bindings/grpc/grpc-channels.js';
export { OptionsError } from '../errors/options-error.js';
export type { BoundInterface, Listed } from '../model/bound-interface.js';
export { grpcBinding } from './grpc-binding.js';

/** Options of `grpcTransport`. All have defaults. */
export interface GrpcTransportOptions {
  /**
   * True: addresses without a scheme and those of http are called without TLS. Default: only loopback is. Credentials
   * then cross the network in clear, so use it only inside of a protected one.
   */
  readonly plaintext?: boolean;
  /** Certificates. With them, addresses of loopback without a scheme get TLS, too. */
  readonly tls?: GrpcTls;
  /** Time without a call after which a connection is closed, in ms. Default 60,000. */
  readonly idleMs?: number;
}

/** The versions of the protocol over gRPC. */
const CODECS: ReadonlyMap<string, () => Promise<ProtobufClientCodec>> = new Map([
  ['1.0', async () => (await import('../codec/protobuf/v1_0.js')).protobufClientV1_0],
  ['0.3', async () => (await import('../codec/protobuf/v0_3.js')).protobufClientV0_3],
]);
const IDLE_MS = 60_000;

/**
 * The client's half of gRPC, for `connect(url, { bindings: [grpcTransport()] })`. All clients with the same value share
 * their connections. Needs the packages `@grpc/grpc-js` and `@bufbuild/protobuf`, which the first call loads.
 * @throws OptionsError naming every option at fault.
 */
export function grpcTransport(options: GrpcTransportOptions = {}): ClientBinding {
  const { plaintext = false, tls, idleMs = IDLE_MS } = options;
  const problems = [
    ...(Number.isInteger(idleMs) && idleMs >= 1000 ? [] : ['idleMs must be a whole number of at least 1000']),
    ...((tls?.cert === undefined) === (tls?.key === undefined) ? [] : ['tls.cert and tls.key must be given together']),
  ];
  if (problems.length > 0) throw new OptionsError('grpcTransport', problems);
  const channels = new GrpcChannels({ plaintext, tls, idleMs, lookup: systemLookup() });
  return {
    speaks: ({ protocolBinding, protocolVersion, url }) =>
      protocolBinding === 'GRPC' && CODECS.has(protocolVersion) && grpcAddress(url) !== undefined,
    transport: async (agentInterface, limits) => {
      const place = grpcAddress(agentInterface.url);
      const load = CODECS.get(agentInterface.protocolVersion);
      if (place === undefined || load === undefined) throw new Error(`${agentInterface.url} is no address of gRPC`);
      const { GrpcTransport } = await import('../bindings/grpc/grpc-transport.js');
      return new GrpcTransport({ agentInterface, place, codec: await load(), channels, limits, now: Date.now });
    },
  };
}
