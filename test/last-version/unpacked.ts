import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PACKED = fileURLToPath(new URL('packages.tgz', import.meta.url));
/** Below the root folder, so that the packages find their dependencies in its `node_modules`. */
const PLACE = fileURLToPath(new URL('../../.cache/last-version', import.meta.url));

/** The server of `test/replicas` as the last version had it, on the packages of that version. */
export function lastVersionServer(): string {
  const hash = createHash('sha256').update(readFileSync(PACKED)).digest('hex').slice(0, 16);
  const folder = join(PLACE, hash);
  if (!existsSync(folder)) unpack(folder);
  return pathToFileURL(join(folder, 'replicas/replica-server.mjs')).href;
}

/** Other test files may do the same at the same time. The first one wins. */
function unpack(folder: string): void {
  mkdirSync(PLACE, { recursive: true });
  const beside = mkdtempSync(join(PLACE, 'unpacking-'));
  execFileSync('tar', ['-xzf', PACKED, '-C', beside]);
  try {
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
