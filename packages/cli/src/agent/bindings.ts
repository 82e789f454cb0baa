import type { ClientBinding } from 'parley-a2a/client';
import type { A2AHostOptions } from 'parley-a2a/node';
import type { Flag } from '../command-line/flags.js';
import { needPackagesOf } from '../failure/needed-packages.js';
import { portOf } from '../serve/listening.js';
import type { Settings } from '../settings/settings.js';

/** One value of `--transport`. */
interface Transport {
  /** The name of the binding in cards. */
  readonly binding: string;
  /** The accepted spellings in lower case. The first one appears in help and errors. */
  readonly spellings: readonly [string, ...string[]];
  /** True if an address may omit the scheme, such as `localhost:50051`. */
  readonly takesAddresses?: true;
  /** Loads the binding. Absent: built into the client. */
  readonly load?: (settings: Settings) => Promise<ClientBinding>;
}

/** The bindings of calls. */
export const TRANSPORTS: readonly Transport[] = [
  { binding: 'HTTP+JSON', spellings: ['http+json', 'rest', 'http-json'] },
  { binding: 'JSONRPC', spellings: ['jsonrpc', 'json-rpc'] },
  {
    binding: 'GRPC',
    spellings: ['grpc'],
    takesAddresses: true,
    load: async (settings) => {
      const { certificatePair } = await import('./client-certificate.js');
      const tls = certificatePair(settings);
      const binding = (await import('parley-a2a-grpc')).grpcTransport(tls === undefined ? {} : { tls });
      return {
        ...binding,
        // Loads the packages of gRPC with the first call.
        transport: (agentInterface, limits) => {
          needPackagesOf('gRPC');
          return binding.transport(agentInterface, limits);
        },
      };
    },
  },
  {
    binding: 'https://parley-a2a.dev/bindings/capnweb/v1',
    spellings: ['capnweb', "cap'n-web"],
    load: async () => (await import('parley-a2a-capnweb')).capnwebTransport(),
  },
];

/** The values of `--transport`, for help and errors. */
export const TRANSPORT_NAMES = TRANSPORTS.map(({ spellings: [first] }) => first).join(', ');

type HostBinding = NonNullable<A2AHostOptions['bindings']>[number];

/** A binding that `parley serve` can add to those of HTTP. */
interface ServedBinding {
  readonly flag: Flag;
  /** Loads the binding. Called if the flag is set. */
  readonly load: (settings: Settings, listing: Listing) => Promise<HostBinding>;
}

/** Options of the cards that list a binding. */
interface Listing {
  readonly listed?: 'public' | 'extended' | 'never';
}

/** The name of the flag of a served binding. */
export type BindingFlag = 'grpc' | 'capnweb';

/** The served bindings by the name of their flag. */
export const SERVED_BINDINGS: Readonly<Record<BindingFlag, ServedBinding>> = {
  grpc: {
    flag: { type: 'string', value: 'port', help: 'serve gRPC too, on this port; shared: on the port of HTTP' },
    load: async (settings, listing) => {
      needPackagesOf('gRPC');
      const { grpcBinding } = await import('parley-a2a-grpc');
      const port = settings.text('grpc');
      return grpcBinding({ port: port === 'shared' ? port : portOf(port, 'grpc'), ...listing });
    },
  },
  capnweb: {
    flag: { type: 'boolean', help: "serve Cap'n Web too, at /capnweb below the agent" },
    load: async (_, listing) => (await import('parley-a2a-capnweb')).capnwebBinding(listing),
  },
};

/** The names of the flags of bindings. */
export const BINDING_FLAGS = Object.keys(SERVED_BINDINGS) as readonly BindingFlag[];

/** Returns the flags of bindings that are set. */
export function chosenBindings(settings: Settings): readonly BindingFlag[] {
  return BINDING_FLAGS.filter((name) => {
    const { type } = SERVED_BINDINGS[name].flag;
    return type === 'boolean' ? settings.isOn(name) : settings.text(name) !== undefined;
  });
}
