import { AwsClient } from 'aws4fetch';
import { newDigester, OptionsError, StorageError } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';

/** The key of an account. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. */
  readonly sessionToken?: string;
}

/** A bucket of S3 or a compatible server. Times are in ms. */
export interface S3BucketOptions {
  /** Url of the bucket, such as `https://files.s3.eu-west-1.amazonaws.com` or `http://minio:9000/files`. */
  readonly bucketUrl: string;
  readonly region: string;
  /** A function is called before each request, for rotating credentials. */
  readonly credentials: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /** Prefix of every key, such as `parley/`. Default: none. */
  readonly prefix?: string;
  /** Time limit of one request, and of silence during a download. Default: 60 s. */
  readonly requestMs?: number;
  /** Further attempts of a request that failed by the network or the server. Default: 3. */
  readonly retries?: number;
}

/** The ports of a bucket. */
export interface S3Runtime {
  readonly clock: Clock;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** A request to a bucket. */
interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Without the prefix of the store. Absent: a request about the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array<ArrayBuffer>[];
}

const REQUEST_MS = 60_000;
const RETRIES = 3;
const FIRST_PAUSE_MS = 200;
/** Maximum size of an answer that is no file, in bytes: a page of 1000 keys of 1024 bytes with their facts. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const NO_BODY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Sends signed requests to a bucket. Retries a request after an error of the network or the server. */
export class S3Bucket {
  readonly clock: Clock;
  readonly prefix: string;
  readonly requestMs: number;
  readonly retries: number;
  readonly #options: S3BucketOptions;
  readonly #send: S3Runtime['fetch'];
  readonly #url: string;
  /** Signing keys derived from the secret, by day. */
  readonly #derived = new Map<string, ArrayBuffer>();

  /** @throws OptionsError naming every option that is wrong. */
  constructor(options: S3BucketOptions, { clock, fetch }: S3Runtime) {
    const url = URL.parse(options.bucketUrl);
    const { prefix = '', requestMs = REQUEST_MS, retries = RETRIES } = options;
    const problems = [
      ...(url !== null && /^https?:$/.test(url.protocol) && url.search === ''
        ? []
        : ['bucketUrl must be an http or https url']),
      ...(/^[\w./-]{0,200}$/.test(prefix) ? [] : ['prefix must have letters, digits, _, -, . and / only']),
      ...(requestMs > 0 ? [] : ['requestMs must be a number of milliseconds']),
    ];
    if (url === null || problems.length > 0) throw new OptionsError('S3FileStore', problems);
    this.clock = clock;
    this.prefix = prefix;
    this.requestMs = requestMs;
    this.retries = retries;
    this.#options = options;
    this.#send = fetch;
    this.#url = url.href.replace(/\/$/, '');
  }

  /**
   * Sends a request and resolves to its whole answer as text; `undefined` for 404.
   * @throws StorageError
   */
  text(request: S3Request): Promise<string | undefined> {
    return this.#withinTime(async (signal) => {
      const response = await this.#sendOnce(request, signal);
      if (response.status === 404) return undefined;
      const text = await boundedText(response);
      // A long CompleteMultipartUpload sends its status before the outcome is known.
      if (!response.ok || text.includes('<Error>')) throw answerError(response.status, text);
      return text;
    });
  }

  /**
   * Sends a request once, with the header of a part; `undefined` for 404. The answer is read by the caller.
   * @throws StorageError
   */
  async openResponse(request: S3Request, signal: AbortSignal): Promise<Response | undefined> {
    const response = await this.#sendOnce(request, signal);
    if (response.ok) return response;
    const text = await boundedText(response);
    if (response.status === 404) return undefined;
    throw answerError(response.status, text);
  }

  /**
   * Reads a small object; `undefined` for 404.
   * @throws StorageError, also for more than `most` bytes.
   */
  bytes(request: S3Request, most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#withinTime(async (signal) => {
      const response = await this.openResponse(request, signal);
      return response && boundedBytes(response, most);
    });
  }

  /** Waits before another attempt. */
  async pause(attempt: number): Promise<void> {
    await new Promise<void>((resolve) => void this.clock.after(FIRST_PAUSE_MS * 2 ** attempt, resolve));
  }

  /** Uploads a part of a file and resolves to its entity tag. */
  sentPart(request: S3Request): Promise<string> {
    return this.#withinTime(async (signal) => {
      const response = await this.#sendOnce(request, signal);
      const text = await boundedText(response);
      const etag = response.headers.get('etag');
      if (!response.ok || etag === null) throw answerError(response.status, text);
      return etag;
    });
  }

  /** Runs attempts of a request, each with a time limit. */
  async #withinTime<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const end = new AbortController();
      const disarm = this.clock.after(this.requestMs, () => end.abort(new Error('The bucket does not answer')));
      try {
        return await run(end.signal);
      } catch (error) {
        const isOver = error instanceof S3AnswerError && !error.isTemporary;
        if (isOver || attempt >= this.retries)
          throw new StorageError('The bucket of the files fails', { cause: error });
        disarm();
        await this.pause(attempt);
      } finally {
        disarm();
      }
    }
  }

  async #sendOnce({ method, key, query = {}, headers = {}, body }: S3Request, signal: AbortSignal): Promise<Response> {
    const url = new URL(key === undefined ? `${this.#url}/` : `${this.#url}/${this.prefix}${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { credentials, region } = this.#options;
    const account = typeof credentials === 'function' ? await credentials() : credentials;
    const signer = new AwsClient({ ...account, region, service: 's3', cache: this.#derived, retries: 0 });
    const hash = { 'x-amz-content-sha256': body === undefined ? NO_BODY_HASH : await hashOf(body) };
    // The signer gets only the hash of the body, because it would copy the body.
    const signed = await signer.sign(url.href, { method, headers: { ...headers, ...hash } });
    return this.#send(url.href, {
      method,
      headers: signed.headers,
      signal,
      redirect: 'manual',
      ...(body !== undefined && { body: new Blob([...body]) }),
    });
  }
}

/** An error answer of a bucket. */
class S3AnswerError extends Error {
  readonly isTemporary: boolean;

  constructor(status: number, code: string) {
    super(`The bucket answers with status ${status}${code === '' ? '' : `, ${code}`}`);
    this.isTemporary =
      status === 408 || status === 429 || status >= 500 || /^(?:InternalError|SlowDown|RequestTimeout)$/.test(code);
  }
}

function answerError(status: number, text: string): S3AnswerError {
  return new S3AnswerError(status, /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? '');
}

async function boundedText(response: Response): Promise<string> {
  return new TextDecoder().decode(await boundedBytes(response, ANSWER_BYTES));
}

async function boundedBytes({ body }: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > most) throw new Error(`The answer of the bucket is longer than ${most} bytes`);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

async function hashOf(body: readonly Uint8Array[]): Promise<string> {
  const digester = await newDigester();
  for (const chunk of body) digester.update(chunk);
  return Array.from(atob(digester.digest()), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}
