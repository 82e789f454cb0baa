import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { globalFolder } from '../settings/settings-files.js';

/** The content of an upload, and its destination. */
interface UploadTarget {
  /** The url for uploads. */
  readonly server: string;
  readonly tenant: string | undefined;
  readonly filename: string;
  readonly mediaType?: string;
}

/** Maximum number of stored uploads. */
const MOST_UPLOADS = 100;
const MOST_BYTES = 1024 * 1024;

/**
 * The url of an unfinished upload of an earlier run. The file `uploads.json` is beside the global settings. Its keys
 * are hashes of the server, and of the path, size and change time of the file.
 */
export class BegunUpload {
  readonly #path: string;
  readonly #key: string;

  constructor(path: string, target: UploadTarget, env: Readonly<Record<string, string | undefined>> = process.env) {
    const { size, mtimeMs } = statSync(path);
    const { server, tenant, filename, mediaType } = target;
    const about = JSON.stringify([server, tenant, filename, mediaType, resolve(path), size, mtimeMs]);
    this.#path = join(globalFolder(env), 'uploads.json');
    this.#key = createHash('sha256').update(about).digest('hex');
  }

  /** Returns the url of an upload that an earlier run has started. */
  earlier(): string | undefined {
    return this.#read()[this.#key];
  }

  /** Stores the url. If the file cannot be written, the upload continues without it. */
  keep(url: string): void {
    const { [this.#key]: _, ...others } = this.#read();
    const newest = Object.entries(others).slice(1 - MOST_UPLOADS);
    this.#write(Object.fromEntries([...newest, [this.#key, url]]));
  }

  forget(): void {
    const { [this.#key]: url, ...others } = this.#read();
    if (url !== undefined) this.#write(others);
  }

  #read(): Readonly<Record<string, string>> {
    try {
      if (statSync(this.#path).size > MOST_BYTES) return {};
      const value = JSON.parse(readFileSync(this.#path, 'utf8')) as Readonly<Record<string, unknown>>;
      const isEntry = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
      return Object.fromEntries(Object.entries(value).filter(isEntry));
    } catch {
      return {};
    }
  }

  /** Writes the file atomically, because another run may read it at the same time. */
  #write(uploads: Readonly<Record<string, string>>): void {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const draft = `${this.#path}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify(uploads, undefined, 2)}\n`, { mode: 0o600 });
      renameSync(draft, this.#path);
    } catch {
      // Without a writable home, uploads cannot be continued.
    }
  }
}
