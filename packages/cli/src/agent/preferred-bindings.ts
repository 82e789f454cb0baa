import { usageError } from '../failure/cli-error.js';

/** Bindings by every spelling that is taken, in lower case. */
const BINDINGS: Readonly<Record<string, string>> = {
  'http+json': 'HTTP+JSON',
  rest: 'HTTP+JSON',
  'http-json': 'HTTP+JSON',
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  grpc: 'GRPC',
};

/** The bindings that flags name, best first. */
export function preferredBindings(names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const binding = BINDINGS[name.toLowerCase()];
    if (binding === undefined) throw usageError(`--transport is HTTP+JSON or JSONRPC, not "${name}"`);
    return binding;
  });
}
