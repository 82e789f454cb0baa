import { fileURLToPath } from 'node:url';

/** Every tested host, each from its npm package. */
export type HostName = 'node' | 'express' | 'fastify' | 'hono' | 'next' | 'workerd' | 'deno' | 'bun';

/** The start of a process. */
export interface Launch {
  /** Run to its end before the host is started. */
  readonly prepare?: readonly string[];
  /** The program and its arguments; the port is in the variable PORT. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its output once it accepts connections. Default: a text with `ready`. */
  readonly ready?: RegExp;
  /** True if the process ends its children itself on a signal. */
  readonly endsItsChildren?: boolean;
}

/** The start of a host, and its differences. */
export interface Host extends Launch {
  /** The place of the interfaces of a mounted agent. */
  readonly interfaces: 'at the mount' | 'below the mount';
  /** True if the host drops all lines of `Authorization` but the first, before any handler runs. */
  readonly dropsRepeats?: boolean;
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const bin = (name: string) => `${folder}node_modules/.bin/${name}`;
const server = (name: string) => `${folder}servers/${name}`;

/** All hosts. */
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
    dropsRepeats: true,
  },
  bun: { command: [bin('bun'), server('bun.mjs')], interfaces: 'at the mount' },
};
