import { fileURLToPath } from 'node:url';

/** A server on somebody else's SDK, and what it does in a way of its own. */
export interface Peer {
  /** Undefined where it cannot be run. */
  readonly command: readonly [program: string | undefined, ...args: string[]];
  readonly version: '1.0' | '0.3';
}

const server = (name: string) => fileURLToPath(new URL(`servers/${name}`, import.meta.url));
const { PYTHON_1_0, PYTHON_0_3 } = process.env;

/** The servers by what they run on. */
export const PEERS = {
  'JavaScript SDK': { command: [process.execPath, server('javascript.mjs')], version: '1.0' },
  'JavaScript SDK 0.3': { command: [process.execPath, server('javascript-0-3.mjs')], version: '0.3' },
  'Python SDK': { command: [PYTHON_1_0, server('python.py')], version: '1.0' },
  'Python SDK 0.3': { command: [PYTHON_0_3, server('python_0_3.py')], version: '0.3' },
} as const satisfies Readonly<Record<string, Peer>>;
export type PeerName = keyof typeof PEERS;
