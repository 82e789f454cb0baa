import type { ClientBinding } from 'parley-a2a/client';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';

/** One value of `--transport`. */
interface Transport {
  /** The binding in cards. */
  readonly binding: string;
  /** The accepted spellings in lower case. Help and errors show the first. */
  readonly spellings: readonly [string, ...string[]];
  /** Loads the binding. Absent: the client always has it. */
  readonly load?: (settings: Settings) => Promise<ClientBinding>;
}

const TRANSPORTS: readonly Transport[] = [
  { binding: 'HTTP+JSON', spellings: ['http+json', 'rest', 'http-json'] },
  { binding: 'JSONRPC', spellings: ['jsonrpc', 'json-rpc'] },
  {
    binding: 'GRPC',
    spellings: ['grpc'],
    load: async (settings) => (await import('./grpc-binding.js')).grpcBindingOf(settings),
  },
  {
    binding: 'https://parley-a2a.dev/bindings/capnweb/v1',
    spellings: ['capnweb', "cap'n-web"],
    load: async () => (await import('./capnweb-binding.js')).capnwebBindingOf(),
  },
];

/** The values of `--transport`, for help and errors. */
export const TRANSPORT_NAMES = TRANSPORTS.map(({ spellings: [first] }) => first).join(', ');

/** Returns the bindings that flags name, in order of preference. */
export function preferredBindings(names: readonly string[]): readonly string[] {
  return names.map((name) => transportOf(name).binding);
}

/** Loads the bindings that flags name and that the client does not have by itself. */
export function loadedBindings(settings: Settings): Promise<readonly ClientBinding[]> {
  return loaded(settings.list('transport').map(transportOf), settings);
}

/** Loads all bindings that the client does not have by itself. */
export function furtherBindings(settings: Settings): Promise<readonly ClientBinding[]> {
  return loaded(TRANSPORTS, settings);
}

function loaded(transports: readonly Transport[], settings: Settings): Promise<readonly ClientBinding[]> {
  const loads = new Set(transports.flatMap(({ load }) => load ?? []));
  return Promise.all(Array.from(loads, (load) => load(settings)));
}

function transportOf(name: string): Transport {
  const transport = TRANSPORTS.find(({ spellings }) => spellings.includes(name.toLowerCase()));
  if (transport === undefined) throw usageError(`--transport is one of ${TRANSPORT_NAMES}, not "${name}"`);
  return transport;
}
