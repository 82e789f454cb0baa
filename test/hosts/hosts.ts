import { fileURLToPath } from 'node:url';

/** How a host is started. */
export interface Host {
  /** The arguments of the command; the port is in the variable PORT. */
  readonly command: readonly string[];
  /** Where below an agent's mount its interfaces are. */
  readonly interfaces: 'at the mount' | 'below the mount' | 'open at the mount';
  readonly env?: Readonly<Record<string, string>>;
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const bin = (name: string) => `${folder}node_modules/.bin/${name}`;
const server = (name: string) => `${folder}servers/${name}`;

/** Every host that is tested, each the real thing from its npm package. */
export const HOSTS = {
  node: { command: [process.execPath, server('node.mjs')], interfaces: 'at the mount' },
  express: { command: [process.execPath, server('express.mjs')], interfaces: 'below the mount' },
  fastify: { command: [process.execPath, server('fastify.mjs')], interfaces: 'below the mount' },
  hono: { command: [process.execPath, server('hono.mjs')], interfaces: 'open at the mount' },
  deno: {
    command: [bin('deno'), 'run', '--allow-net=127.0.0.1', '--allow-env', '--no-prompt', server('deno.mjs')],
    interfaces: 'at the mount',
  },
  bun: { command: [bin('bun'), server('bun.mjs')], interfaces: 'at the mount' },
} as const satisfies Record<string, Host>;

/** The name of a host. */
export type HostName = keyof typeof HOSTS;
