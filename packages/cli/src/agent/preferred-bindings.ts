import { usageError } from '../failure/cli-error.js';

/** Bindings by their accepted spellings, in lower case. */
const BINDINGS: Readonly<Record<string, string>> = {
  'http+json': 'HTTP+JSON',
  rest: 'HTTP+JSON',
  'http-json': 'HTTP+JSON',
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  grpc: 'GRPC',
};

/** Returns the bindings that flags name, in order of preference. */
export function preferredBindings(names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const binding = BINDINGS[name.toLowerCase()];
    if (binding === undefined) throw usageError(`--transport is HTTP+JSON or JSONRPC, not "${name}"`);
    return binding;
  });
}
