import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request for a file. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The behaviour of the server, which a test changes between requests. */
export interface FileBehaviour {
  content: Buffer;
  etag: string | undefined;
  /** Bytes of an answer after which its connection is cut. */
  cutAfter: (request: number) => number;
  /** False: the server answers to a range with the whole file. */
  hasRanges: boolean;
  digest: string | undefined;
  headers: Record<string, string>;
  /** Answers in place of the server; false leaves the request to it. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** The SHA-256 of a content in the form of a digest field (RFC 9530). */
export function digestField(content: Buffer): string {
  return `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
}

/** A small server of one file that cuts connections: a real one on a real port. */
export class FileServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  /** Bytes of the file that the server has sent. */
  sent = 0;
  readonly behaviour: FileBehaviour;
  readonly #server: Server;

  private constructor(behaviour: Partial<FileBehaviour>) {
    const content = behaviour.content ?? Buffer.from('The content of a file.');
    this.behaviour = {
      content,
      etag: '"v1"',
      cutAfter: () => Number.POSITIVE_INFINITY,
      hasRanges: true,
      digest: digestField(content),
      headers: {},
      answer: () => false,
      ...behaviour,
    };
    this.#server = createServer((request, response) => this.#take(request, response));
  }

  static async start(behaviour: Partial<FileBehaviour> = {}): Promise<FileServer> {
    const server = new FileServer(behaviour);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    if (this.behaviour.answer(request, response)) return;
    const { content, etag, hasRanges, digest, headers } = this.behaviour;
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    const ifRange = request.headers['if-range'];
    const isPartial = hasRanges && range !== undefined && (ifRange === undefined || ifRange === etag);
    const start = isPartial ? Number(range) : 0;
    const all = { ...headers, ...(etag && { etag }), ...(digest && { 'repr-digest': digest }) };
    if (isPartial && start >= content.length) {
      response.writeHead(416, { ...all, 'content-range': `bytes */${content.length}` }).end();
      return;
    }
    const rest = content.subarray(start);
    const place = `bytes ${start}-${content.length - 1}/${content.length}`;
    response.writeHead(isPartial ? 206 : 200, {
      'content-length': rest.length,
      ...(isPartial && { 'content-range': place }),
      ...all,
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const cut = this.behaviour.cutAfter(this.requests.length);
    const now = rest.subarray(0, Math.min(cut, rest.length));
    this.sent += now.length;
    if (now.length === rest.length) response.end(now);
    else response.write(now, () => response.socket?.end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
