import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, which can be filled and mounted read-only. Only root can mount one. */
export class SmallDisk implements Disposable {
  readonly path: string;
  /** A test that was cut off leaves no mount behind. */
  readonly #atExit = () => {
    execFileSync('umount', ['-l', this.path], { stdio: 'ignore' });
    rmdirSync(this.path);
  };

  private constructor(path: string) {
    this.path = path;
    process.once('exit', this.#atExit);
  }

  /** The reason why this machine cannot mount one; undefined if it can. */
  static readonly missing: string | undefined = reasonFor(() => new SmallDisk(mountDisk(1))[Symbol.dispose]());

  static of(megabytes: number): SmallDisk {
    return new SmallDisk(mountDisk(megabytes));
  }

  /** Takes all the room that is left. */
  fill(): void {
    const file = openSync(join(this.path, 'filler'), 'a');
    try {
      for (let size = 1_048_576; size >= 1; size >>= 1) {
        const bytes = Buffer.alloc(size);
        try {
          for (;;) writeSync(file, bytes);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    unlinkSync(join(this.path, 'filler'));
  }

  /** No process may have a file open for writing. */
  remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path], { stdio: 'pipe' });
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#atExit);
    execFileSync('umount', [this.path], { stdio: 'pipe' });
    rmdirSync(this.path);
  }
}

/** Returns the error of an attempt in one line; undefined if it succeeds. */
export function reasonFor(attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return String(error).split('\n').slice(0, 2).join(' ');
  }
}

function mountDisk(megabytes: number): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return path;
}
