import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { S3FileStoreOptions } from '../../packages/s3/src/s3-file-store.js';

/** A server that speaks the protocol of S3, with one bucket, as a process of its own. */
export class S3Server implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly url: string;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  static async start(): Promise<S3Server> {
    const python = process.env.PYTHON_S3;
    if (python === undefined) throw new Error('node test/s3/run.mjs runs this suite');
    const child = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH ?? '', PYTHONUNBUFFERED: '1' },
    });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let told = '';
    child.stderr?.setEncoding('utf8');
    while (true) {
      const [text] = await Promise.race([
        once(child.stderr as NonNullable<typeof child.stderr>, 'data'),
        once(child, 'exit').then(() => {
          throw new Error(`The server of S3 did not start: ${told}`);
        }),
      ]);
      told += String(text);
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(told)?.[1];
      if (port === undefined) continue;
      child.stderr?.resume();
      const server = new S3Server(child, `http://127.0.0.1:${port}`);
      await server.createBucket('files');
      return server;
    }
  }

  /** Creates a bucket. This server does not check signatures. */
  async createBucket(name: string): Promise<void> {
    const response = await fetch(`${this.url}/${name}`, { method: 'PUT' });
    if (!response.ok) throw new Error(`No bucket: ${await response.text()}`);
  }

  /** The options of a store with a prefix of its own. */
  options(prefix: string): S3FileStoreOptions {
    return {
      bucketUrl: `${this.url}/files`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      prefix,
    };
  }

  /** The keys of all objects below a prefix, as the server lists them. */
  async keys(prefix: string): Promise<readonly string[]> {
    const text = await (await fetch(`${this.url}/files?list-type=2&prefix=${prefix}`)).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
  }

  /** The number of uploads in parts below a prefix that were not ended. */
  async openUploads(prefix: string): Promise<number> {
    const text = await (await fetch(`${this.url}/files?uploads&prefix=${prefix}`)).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].filter(([, key = '']) => key.startsWith(prefix)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
