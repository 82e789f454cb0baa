import type * as Dns from 'node:dns';
import type * as Http from 'node:http';
import type * as Https from 'node:https';

/** Looks up all addresses of a name. */
export type NameLookup = (name: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** The resolver of the machine; undefined on hosts without checked connections. */
export function systemLookup(): NameLookup | undefined {
  return modulesOfNode()?.lookup;
}

/** The modules of Node.js that open connections. */
export interface NodeModules {
  readonly http: typeof Http;
  readonly https: typeof Https;
  readonly lookup: NameLookup;
}

/** The modules of Node.js, without an `import` that browser bundles would contain; undefined on other hosts. */
export function modulesOfNode(): NodeModules | undefined {
  const { process, Bun, Deno } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown; release?: { name?: string } };
    Bun?: unknown;
    Deno?: unknown;
  };
  const isWorker = globalThis.navigator?.userAgent === 'Cloudflare-Workers';
  // Other hosts imitate these modules, but may not call `lookup` for a connection.
  if (process?.release?.name !== 'node' || Bun !== undefined || Deno !== undefined || isWorker) return undefined;
  const [http, https, dns] = ['http', 'https', 'dns'].map((name) => process.getBuiltinModule?.(`node:${name}`));
  if (http === undefined || https === undefined || dns === undefined) return undefined;
  const { promises } = dns as typeof Dns;
  return {
    http: http as typeof Http,
    https: https as typeof Https,
    lookup: (name) => promises.lookup(name, { all: true }),
  };
}
