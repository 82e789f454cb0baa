import type { BindingContext } from '../../bindings/http/binding-context.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import { jsonRpcBinding } from '../../bindings/jsonrpc/jsonrpc-binding.js';
import type { JsonRpcDialect } from '../../bindings/jsonrpc/jsonrpc-dialect.js';
import { v0_2_5JsonRpc } from '../../codec/v0_2_5/wire-codec.js';
import type { WireCodec } from '../../codec/wire-codec.js';
import { OPERATIONS, type OperationName } from '../../operations/operations.js';
import { interceptedHandler } from '../../server/intercepted-handler.js';
import { baseServerErrors } from './base-server-errors.js';
import { finalMessageInHistory } from './final-message.js';

/** The version that base servers and their callers speak. */
export const BASE_SERVER_VERSION = v0_2_5JsonRpc;

/** The endpoints: `/communicate` takes messages, `/delegate` all else. */
export const CALL_PATHS = ['/communicate', '/delegate'] as const;

/** The path of one of them. */
type CallPath = (typeof CALL_PATHS)[number];

/**
 * The two JSON-RPC endpoints of a base server, which share the methods of a version between them. No request asks for
 * another version, by whatever header.
 */
export function baseServerCalls(endpoint: BindingContext): Readonly<Record<CallPath, Exchange>> {
  const codec = BASE_SERVER_VERSION;
  const card = { ...endpoint.card, supportedInterfaces: [] };
  const handler = interceptedHandler(endpoint.handler, [finalMessageInHistory]);
  const fixed: BindingContext = { ...endpoint, handler, card, versionWhenAbsent: codec.version };
  const at = (path: CallPath) => jsonRpcBinding(fixed, [codecAt(path)], dialectAt(path, codec, endpoint));
  return { '/communicate': at('/communicate'), '/delegate': at('/delegate') };
}

/** The codec of base servers with only the methods of an endpoint. */
export function codecAt(path: CallPath): WireCodec {
  const codec = BASE_SERVER_VERSION;
  const methods = [...codec.methods].filter(([, operation]) => takes(path, operation));
  return { ...codec, methods: new Map(methods) };
}

function dialectAt(path: CallPath, codec: WireCodec, { clock }: BindingContext): JsonRpcDialect {
  return {
    askedVersion: () => undefined,
    methodNotFound: (method) => {
      const operation = codec.methods.get(method);
      const other = operation && CALL_PATHS.find((candidate) => candidate !== path && takes(candidate, operation));
      return other === undefined ? 'Method not found' : `Method not found: ${method} belongs to POST ${other}`;
    },
    ...baseServerErrors(clock),
  };
}

function takes(path: CallPath, operation: OperationName): boolean {
  return (OPERATIONS[operation].request === 'SendMessageRequest') === (path === '/communicate');
}
