import type { HostExtension } from 'parley-a2a-grpc';

/** The paths of the bindings. Both are mounts of one agent, so each serves the other binding, too. */
export const JSON_RPC = '/jsonrpc';
export const HTTP_JSON = '/rest';

interface Card {
  readonly supportedInterfaces?: readonly Address[];
  readonly additionalInterfaces?: readonly Address[];
}

interface Address {
  readonly url: string;
  readonly protocolBinding?: string;
  readonly transport?: string;
}

/** The card of the agent at the root, which names a path of its own for each binding. */
export const rootCard: HostExtension = {
  interfaces: () => [],
  endpoints: ({ mounts, baseUrl }) => {
    const mount = mounts.find(({ path }) => path === JSON_RPC);
    if (mount === undefined) throw new Error(`No agent is mounted at ${JSON_RPC}`);
    return [
      {
        path: '/.well-known/agent-card.json',
        access: 'open',
        without: [],
        exchange: async (request) => {
          const base = baseUrl(request);
          const answer = await mount.exchange(at(mount.cardPath, request));
          return typeof answer.body === 'string' ? { ...answer, body: withPaths(answer.body, base) } : answer;
        },
      },
    ];
  },
};

/** The same request for another path. */
function at<Request extends object>(path: string, request: Request): Request {
  return new Proxy(request, {
    get: (target, name) => {
      if (name === 'path') return path;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function withPaths(text: string, base: string): string {
  const { supportedInterfaces, additionalInterfaces, ...card } = JSON.parse(text) as Card;
  const moved = (addresses: readonly Address[]) =>
    addresses.map((address) =>
      (address.protocolBinding ?? address.transport) === 'HTTP+JSON'
        ? { ...address, url: `${base}${HTTP_JSON}` }
        : address,
    );
  return JSON.stringify({
    ...card,
    ...(supportedInterfaces && { supportedInterfaces: moved(supportedInterfaces) }),
    ...(additionalInterfaces && { additionalInterfaces: moved(additionalInterfaces) }),
  });
}
