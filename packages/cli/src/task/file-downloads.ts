import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { guardedFetch } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { type DownloadOptions, downloadFile, type FileDownload, isOwnUrl } from 'parley-a2a/client';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { TransferProgress } from '../output/transfer-progress.js';
import { PartialDownload } from './partial-download.js';
import { existsError } from './saved-files.js';

/** A file to download. */
interface WantedFile {
  readonly url: string;
  /** The final path. */
  readonly path: string;
}

/** The outcome of a download. */
interface DownloadedFile {
  readonly mediaType: string | null;
  readonly bytes: number;
}

/** Downloads the files of parts. Credentials are sent only to the agent's own origin. */
export class FileDownloads {
  readonly #client: Client;
  readonly #invocation: Invocation;
  readonly #overwrite: boolean;
  readonly #maxBytes: number;
  readonly #origins: readonly string[];
  readonly #signal: AbortSignal | undefined;

  /** @throws CliError A2ACLI_ERR_USAGE */
  constructor(client: Client, invocation: Invocation) {
    const { settings } = invocation;
    this.#client = client;
    this.#invocation = invocation;
    this.#overwrite = settings.isOn('force');
    this.#maxBytes = settings.bytes('max-bytes') ?? Number.POSITIVE_INFINITY;
    this.#origins = settings.list('file-origin').map(originOf);
    const timeoutMs = settings.duration('timeout');
    this.#signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  }

  /** True if a url may be fetched: on the agent's own origin, or on one in the settings. */
  allows(url: string): boolean {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) return false;
    if (isOwnUrl(this.#client, url)) return true;
    return this.#origins.some((origin) => origin === 'public' || origin === new URL(url).origin);
  }

  /** Downloads a file to its path, or continues an earlier download. */
  async fetch({ url, path }: WantedFile): Promise<DownloadedFile> {
    const { output } = this.#invocation;
    const partial = new PartialDownload(path, url);
    mkdirSync(dirname(path), { recursive: true });
    const from = partial.earlier(this.#overwrite);
    const progress = new TransferProgress(output, path);
    const options = {
      ...this.#bounds(),
      ...(from !== undefined && { from }),
      onProgress: progress.show,
    };
    try {
      const file = await downloadFile(this.#client, url, options);
      if (!this.#overwrite && lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
        await file.body.cancel();
        await checkSame(path, file);
        output.note(`${path} is there already, with the same content.`);
        return { mediaType: file.mediaType ?? null, bytes: file.total ?? 0 };
      }
      if (file.offset > 0) output.note(`Continuing ${path} behind byte ${file.offset}.`);
      const bytes = await this.#write(partial, file);
      partial.finish(this.#overwrite);
      return { mediaType: file.mediaType ?? null, bytes };
    } finally {
      output.endProgress();
    }
  }

  #bounds(): Pick<DownloadOptions, 'maxBytes' | 'otherOrigins' | 'signal'> {
    return {
      maxBytes: this.#maxBytes,
      ...(this.#origins.length > 0 && { otherOrigins: otherOrigins(this.#origins) }),
      ...(this.#signal !== undefined && { signal: this.#signal }),
    };
  }

  async #write(partial: PartialDownload, file: FileDownload): Promise<number> {
    const isResumable = file.etag?.startsWith('"') === true;
    const handle = await partial.openAt(file.offset, isResumable ? file.etag : undefined);
    let at = file.offset;
    try {
      for await (const chunk of file.body as unknown as AsyncIterable<Uint8Array>) {
        for (let written = 0; written < chunk.length; ) {
          const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, at);
          written += bytesWritten;
          at += bytesWritten;
        }
      }
      await handle.sync();
    } catch (error) {
      // Dropped, so that the next run does not continue mismatched content.
      if (!isResumable || (error as { code?: unknown }).code === 'INVALID_AGENT_RESPONSE') partial.drop();
      throw error;
    } finally {
      await handle.close();
    }
    return at;
  }
}

/** Allows the listed origins, which may be private, or all public addresses. Sends no credentials. */
function otherOrigins(origins: readonly string[]): NonNullable<DownloadOptions['otherOrigins']> {
  const named = origins.filter((origin) => origin !== 'public').map(destinationOf);
  return guardedFetch({
    allow: named,
    ...(named.length === origins.length && { only: named }),
    bytes: Number.POSITIVE_INFINITY,
    ms: Number.POSITIVE_INFINITY,
  });
}

function destinationOf(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function originOf(text: string): string {
  if (text === 'public') return text;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageError(`--file-origin is an origin such as https://files.example, or public, not "${text}"`);
  return url.origin;
}

/** @throws CliError if a file differs from a download, or cannot be compared with it. */
async function checkSame(path: string, { digest, total }: FileDownload): Promise<void> {
  const there = lstatSync(path);
  if (digest === undefined || !there.isFile() || there.size !== total) throw existsError(path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
  if (hash.digest('base64') !== digest) throw existsError(path);
}
