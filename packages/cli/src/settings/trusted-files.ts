import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The trust in a file: for its current content, only for other content, or never given. */
export type FileTrust = 'trusted' | 'changed' | 'unknown';

/** Files that the user has trusted, each with a hash of its content. Only the owner can read the list. */
export class TrustedFiles {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Trusted paths, sorted. */
  get paths(): readonly string[] {
    return Object.keys(this.#read()).sort();
  }

  /** Returns the trust in a file with this content. */
  trustOf(file: string, content: Uint8Array): FileTrust {
    const known = this.#read()[file];
    if (known === undefined) return 'unknown';
    return known === hashOf(content) ? 'trusted' : 'changed';
  }

  /** Trusts a file with exactly this content. */
  trust(file: string, content: Uint8Array): void {
    this.#write({ ...this.#read(), [file]: hashOf(content) });
  }

  /** Removes the trust; returns `false` if the file was not trusted. */
  untrust(file: string): boolean {
    const { [file]: known, ...others } = this.#read();
    if (known !== undefined) this.#write(others);
    return known !== undefined;
  }

  #read(): Readonly<Record<string, string>> {
    try {
      const value: unknown = JSON.parse(readFileSync(this.path, 'utf8'));
      return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
    } catch {
      return {};
    }
  }

  /** Replaces the file atomically, because another command may read it at the same time. */
  #write(hashes: Readonly<Record<string, string>>): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(hashes, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, this.path);
  }
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
