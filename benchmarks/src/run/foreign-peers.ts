import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The servers that are not written in JavaScript. */
export const FOREIGN_PEERS = ['go', 'python'] as const;
export type ForeignPeer = (typeof FOREIGN_PEERS)[number];

/** The command that starts a server, or the reason why this machine has none. */
export type Prepared = { readonly command: readonly string[] } | { readonly missing: string };

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);
const BUILD_MS = 600_000;

/** Builds the server of a foreign SDK or installs its packages. Takes a minute the first time. */
export async function prepareForeignPeer(peer: ForeignPeer): Promise<Prepared> {
  // The CPU time of another program is read from there.
  if (!existsSync('/proc/self/stat')) return { missing: 'this system has no /proc' };
  return peer === 'go' ? prepareGo() : preparePython();
}

async function prepareGo(): Promise<Prepared> {
  const cache = join(root, '.cache');
  const program = join(cache, 'bench-go-peer');
  try {
    await mkdir(cache, { recursive: true });
    const options = { cwd: join(root, 'benchmarks/peers/go'), timeout: BUILD_MS };
    await run('go', ['build', '-o', program, '.'], options);
    return { command: [program] };
  } catch (error) {
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code === 'ENOENT') return { missing: 'Go is not installed' };
    return { missing: `go build failed: ${stderr?.trim().split('\n').at(-1)}` };
  }
}

async function preparePython(): Promise<Prepared> {
  const environment = new URL('scripts/python-environment.mjs', `file://${root}`);
  const { pythonWith } = (await import(environment.href)) as {
    pythonWith(requirements: string, leftOut: string): Promise<string | undefined>;
  };
  const folder = join(root, 'benchmarks/peers/python');
  const python = await pythonWith(join(folder, 'requirements.txt'), 'The rows of the Python SDK are');
  if (python === undefined) return { missing: 'its packages could not be installed' };
  return { command: [python, join(folder, 'peer.py')] };
}
