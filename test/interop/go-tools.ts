import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { goProgramOf } from '../../scripts/go-program.mjs';

/** The time for a build in ms: it compiles the SDK and gRPC. */
export const BUILD_MS = 300_000;

/** True if this machine has the Go that the official SDK needs. */
export function hasGo(): boolean {
  try {
    const [, minor] = /go1\.(\d+)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' })) ?? [];
    return Number(minor) >= 25;
  } catch {
    return false;
  }
}

/** The program of a folder beside this file, which is built once. */
export async function goProgram(folder: string): Promise<string> {
  const path = fileURLToPath(new URL(folder, import.meta.url));
  const program = await goProgramOf(path, `The tests with test/interop/${folder} are`);
  if (program === undefined) throw new Error(`test/interop/${folder} could not be built`);
  return program;
}
