import { type HostExtension, systemLookup } from 'parley-a2a/binding-kit';
import type { ClientBinding } from 'parley-a2a/client';
import { checkOptions, flag, OptionsError, optionObject, Type } from 'parley-a2a/kit';
import { grpcAddress } from './binding/grpc-address.js';
import { GrpcChannels, type GrpcTls } from './binding/grpc-channels.js';
import type { ProtobufClientCodec } from './protobuf/protobuf-codec.js';
import { GrpcBinding } from './server/grpc-binding.js';
import { type GrpcBindingOptions, grpcBindingSchema } from './server/grpc-options.js';

export type { BoundInterface, HostExtension, Listed, TlsOptions } from 'parley-a2a/binding-kit';
export type { GrpcTls } from './binding/grpc-channels.js';
export type { GrpcBindingOptions } from './server/grpc-options.js';

/** Options of `grpcTransport`. All have defaults. */
export interface GrpcTransportOptions {
  /**
   * True: addresses without a scheme and those of http are called without TLS. Default: only loopback is. Credentials
   * are then sent unencrypted, so use it only inside of a protected network.
   */
  readonly plaintext?: boolean;
  /** Certificates. With them, addresses of loopback without a scheme get TLS, too. */
  readonly tls?: GrpcTls;
  /** Time without a call after which a connection is closed, in ms. Default 60,000. */
  readonly idleMs?: number;
}

/** The versions of the protocol over gRPC. */
const CODECS: ReadonlyMap<string, () => Promise<ProtobufClientCodec>> = new Map([
  ['1.0', async () => (await import('./protobuf/v1_0.js')).protobufClientV1_0],
  ['0.3', async () => (await import('./protobuf/v0_3.js')).protobufClientV0_3],
]);
const IDLE_MS = 60_000;

const some = Type.Optional(Type.Unknown());
const schema = optionObject({
  plaintext: Type.Optional(flag),
  tls: Type.Optional(optionObject({ ca: some, cert: some, key: some, passphrase: some })),
  idleMs: some,
});

/**
 * gRPC for clients: `connect(url, { bindings: [grpcTransport()] })`. All clients with the same value share their
 * connections. The first call loads gRPC.
 * @throws OptionsError naming every option at fault.
 */
export function grpcTransport(options: GrpcTransportOptions = {}): ClientBinding {
  const { plaintext = false, tls, idleMs = IDLE_MS } = checkOptions({ subject: 'grpcTransport', schema, options });
  const problems = [
    ...(Number.isInteger(idleMs) && idleMs >= 1000 ? [] : ['idleMs must be a whole number of at least 1000']),
    ...((tls?.cert === undefined) === (tls?.key === undefined) ? [] : ['tls.cert and tls.key must be given together']),
  ];
  if (problems.length > 0) throw new OptionsError('grpcTransport', problems);
  const channels = new GrpcChannels({ plaintext, tls, idleMs, lookup: systemLookup() });
  return {
    // HTTP/2 pings detect them.
    findsLostConnections: true,
    opensStreamsLate: true,
    speaks: ({ protocolBinding, protocolVersion, url }) =>
      protocolBinding === 'GRPC' && CODECS.has(protocolVersion) && grpcAddress(url) !== undefined,
    transport: async (agentInterface, limits) => {
      const place = grpcAddress(agentInterface.url);
      const load = CODECS.get(agentInterface.protocolVersion);
      if (place === undefined || load === undefined) throw new Error(`${agentInterface.url} is no address of gRPC`);
      const { GrpcTransport } = await import('./binding/grpc-transport.js');
      return new GrpcTransport({ agentInterface, place, codec: await load(), channels, limits, now: Date.now });
    },
  };
}

/**
 * gRPC for one agent, on its own port: versions 1.0 and 0.3, health and reflection. For the option `bindings` of a
 * server.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function grpcBinding(options: GrpcBindingOptions = {}): HostExtension {
  checkOptions({ subject: 'grpcBinding', schema: grpcBindingSchema, options });
  return new GrpcBinding(options, loadCodecs);
}

async function loadCodecs() {
  const [{ protobufV1_0 }, { protobufV0_3 }, { lfA2aV1A2a, a2aV1A2a, grpcHealthV1Health, ...files }] =
    await Promise.all([
      import('./protobuf/v1_0.js'),
      import('./protobuf/v0_3.js'),
      import('./protobuf/descriptors.generated.js'),
    ]);
  const { grpcReflectionV1Reflection, grpcReflectionV1alphaReflection } = files;
  return {
    codecs: [protobufV1_0, protobufV0_3],
    files: [lfA2aV1A2a, a2aV1A2a, grpcHealthV1Health, grpcReflectionV1Reflection, grpcReflectionV1alphaReflection],
  };
}
