import { fileURLToPath } from 'node:url';

/** Every host that is tested, each the real thing from its npm package. */
export type HostName = 'node' | 'express' | 'fastify' | 'hono' | 'next' | 'workerd' | 'deno' | 'bun';

/** How a process is started. */
export interface Launch {
  /** Run to its end before the host is started. */
  readonly prepare?: readonly string[];
  /** The program and its arguments; the port is in the variable PORT. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it prints once it accepts connections; default: something with `ready`. */
  readonly ready?: RegExp;
  /** Set where a process ends its children itself when it is asked to. */
  readonly endsItsChildren?: boolean;
}

/** How a host is started, and what is different on it. */
export interface Host extends Launch {
  /** Where below an agent's mount its interfaces are. */
  readonly interfaces: 'at the mount' | 'below the mount';
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const bin = (name: string) => `${folder}node_modules/.bin/${name}`;
const server = (name: string) => `${folder}servers/${name}`;

/** How each of them is started. */
export const HOSTS: Readonly<Record<HostName, Host>> = {
  node: { command: [process.execPath, server('node.mjs')], interfaces: 'at the mount' },
  express: { command: [process.execPath, server('express.mjs')], interfaces: 'below the mount' },
  fastify: { command: [process.execPath, server('fastify.mjs')], interfaces: 'below the mount' },
  hono: { command: [process.execPath, server('hono.mjs')], interfaces: 'below the mount' },
  workerd: { command: [process.execPath, server('workerd.mjs')], interfaces: 'at the mount' },
  deno: {
    command: [bin('deno'), 'run', '--allow-net=127.0.0.1', '--allow-env', '--no-prompt', server('deno.mjs')],
    interfaces: 'at the mount',
  },
  next: {
    prepare: [bin('next'), 'build', server('next')],
    command: [bin('next'), 'start', server('next'), '--hostname', '127.0.0.1'],
    env: { NEXT_TELEMETRY_DISABLED: '1' },
    interfaces: 'at the mount',
  },
  bun: { command: [bin('bun'), server('bun.mjs')], interfaces: 'at the mount' },
};
