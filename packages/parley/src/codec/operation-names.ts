import { OPERATION_NAMES, type OperationName } from '../operations/operations.js';
import type { Route, WireRoute } from './wire-codec.js';

/** The names of one operation on the wire of one version. */
export interface OperationNames {
  /** JSON-RPC methods: a server takes all of them, a client sends the first. */
  readonly methods: readonly string[];
  /** HTTP+JSON routes: a server takes all of them, a client tries them in this order. */
  readonly routes: readonly Route[];
}

/** The names of all operations in one version; `undefined` says that the version lacks the operation. */
type OperationNameTable = { readonly [Name in OperationName]: OperationNames | undefined };

/** The operations of a version by JSON-RPC method. */
export function methodsOf(table: OperationNameTable): ReadonlyMap<string, OperationName> {
  return new Map(
    OPERATION_NAMES.flatMap((name) => (table[name]?.methods ?? []).map((method) => [method, name] as const)),
  );
}

/** The HTTP+JSON routes of a version. */
export function routesOf(table: OperationNameTable): readonly WireRoute[] {
  return OPERATION_NAMES.flatMap((name) => (table[name]?.routes ?? []).map((route) => ({ operation: name, ...route })));
}
