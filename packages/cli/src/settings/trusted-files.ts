import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** True if a person has trusted a file: with the content that it has, with other content, or never. */
export type FileTrust = 'trusted' | 'changed' | 'unknown';

/** The files that a person has trusted, each with a hash of its content, in a file that only its owner reads. */
export class TrustedFiles {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The paths that were trusted, sorted. */
  get paths(): readonly string[] {
    return Object.keys(this.#read()).sort();
  }

  /** True if a file is trusted with this content. */
  trustOf(file: string, content: Uint8Array): FileTrust {
    const known = this.#read()[file];
    if (known === undefined) return 'unknown';
    return known === hashOf(content) ? 'trusted' : 'changed';
  }

  /** Trusts a file with this content and no other. */
  trust(file: string, content: Uint8Array): void {
    this.#write({ ...this.#read(), [file]: hashOf(content) });
  }

  /** Takes trust away; `false` if there was none. */
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

  /** Replaces the file in one step: another command may read it at the same time. */
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
