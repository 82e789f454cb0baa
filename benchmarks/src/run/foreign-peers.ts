import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The servers that are not written in JavaScript. */
export const FOREIGN_PEERS = ['go', 'python', 'rust'] as const;
export type ForeignPeer = (typeof FOREIGN_PEERS)[number];

/** The command that starts a server, or the reason why this machine has none. */
export type Prepared = { readonly command: readonly string[] } | { readonly missing: string };

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cache = join(root, '.cache');
const run = promisify(execFile);
const BUILD_MS = 1_200_000;

const PREPARE: { readonly [Name in ForeignPeer]: () => Promise<Prepared> } = {
  go: () => {
    const program = join(cache, 'bench-go-peer');
    return built({ language: 'Go', command: ['go', 'build', '-o', program, '.'], folder: 'go', program });
  },
  python: preparePython,
  rust: () => {
    const target = join(cache, 'bench-rust-peer');
    const command = ['cargo', 'build', '--quiet', '--release', '--locked', '--target-dir', target];
    return built({ language: 'Rust', command, folder: 'rust', program: join(target, 'release/peer') });
  },
};

/** Builds the server of a foreign SDK or installs its packages. The first time takes minutes. */
export async function prepareForeignPeer(peer: ForeignPeer): Promise<Prepared> {
  // The CPU time of another program is read from there.
  if (!existsSync('/proc/self/stat')) return { missing: 'this system has no /proc' };
  return PREPARE[peer]();
}

interface Building {
  readonly language: string;
  readonly command: readonly string[];
  /** Below `benchmarks/peers`. */
  readonly folder: string;
  readonly program: string;
}

async function built({ language, command, folder, program }: Building): Promise<Prepared> {
  const [tool = '', ...args] = command;
  try {
    await mkdir(cache, { recursive: true });
    await run(tool, args, { cwd: join(root, 'benchmarks/peers', folder), timeout: BUILD_MS });
    return { command: [program] };
  } catch (error) {
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code === 'ENOENT') return { missing: `${language} is not installed` };
    return { missing: `${tool} build failed: ${stderr?.trim().split('\n').at(-1)}` };
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
