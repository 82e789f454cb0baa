import type { ConnectOptions } from 'parley-a2a/client';
import { CAPNWEB_BINDING, capnwebTransport } from 'parley-a2a-capnweb';
import { grpcTransport } from 'parley-a2a-grpc';

/** Every binding in every version, with the options of its client. */
export const WIRES: readonly (readonly [string, ConnectOptions])[] = [
  ['JSON-RPC 1.0', { binding: 'JSONRPC', version: '1.0' }],
  ['JSON-RPC 0.3', { binding: 'JSONRPC', version: '0.3' }],
  ['JSON-RPC 0.2.5', { binding: 'JSONRPC', version: '0.2' }],
  ['HTTP+JSON 1.0', { binding: 'HTTP+JSON', version: '1.0' }],
  ['HTTP+JSON 0.3', { binding: 'HTTP+JSON', version: '0.3' }],
  ['HTTP+JSON 0.2.5', { binding: 'HTTP+JSON', version: '0.2' }],
  ['gRPC 1.0', { binding: 'GRPC', version: '1.0', bindings: [grpcTransport()] }],
  ['gRPC 0.3', { binding: 'GRPC', version: '0.3', bindings: [grpcTransport()] }],
  ["Cap'n Web 1.0", { binding: CAPNWEB_BINDING, bindings: [capnwebTransport()] }],
  ['in-process', {}],
];
