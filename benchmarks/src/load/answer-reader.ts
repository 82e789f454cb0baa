/** A whole answer to one request. The body is latin1, because checks search only for ASCII in it. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Reads the answers on a keep-alive connection, one at a time: HTTP/1.1 with a length or in chunks, which is all that
 * the subjects send.
 */
export class AnswerReader {
  #rest: Buffer | undefined;
  #status = 0;
  #body: string[] = [];
  /** Missing bytes of the body, or of the current chunk. */
  #left = 0;
  #state: 'head' | 'body' | 'chunk-size' | 'chunk' = 'head';

  /**
   * Takes in bytes of the socket; the answer, once it is complete.
   * @throws Error for what is not such an answer, or goes on after it.
   */
  push(data: Buffer): HttpAnswer | undefined {
    let bytes = data;
    if (this.#rest !== undefined) {
      bytes = Buffer.concat([this.#rest, data]);
      this.#rest = undefined;
    }
    for (let at = 0; ; ) {
      const next = this.#step(bytes, at);
      if (next === 'more') return undefined;
      if (next === 'whole') return this.#take();
      at = next;
    }
  }

  /** Continues at the returned place, or tells the state of the answer. */
  #step(bytes: Buffer, at: number): number | 'more' | 'whole' {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes, at);
      case 'body': {
        const end = this.#content(bytes, at);
        if (this.#left > 0) return 'more';
        return this.#ended(bytes, end);
      }
      case 'chunk-size':
        return this.#chunkSize(bytes, at);
      case 'chunk': {
        const end = this.#content(bytes, at);
        if (this.#left > 0) return 'more';
        if (bytes.length < end + 2) return this.#keep(bytes, end);
        this.#state = 'chunk-size';
        return end + 2;
      }
    }
  }

  #head(bytes: Buffer, at: number): number | 'more' {
    const end = bytes.indexOf(HEAD_END, at);
    if (end < 0) return this.#keep(bytes, at);
    const head = bytes.toString('latin1', at, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    const length = headerIn(head, '\r\ncontent-length:');
    if (length !== undefined) {
      this.#state = 'body';
      this.#left = Number(length);
    } else if (headerIn(head, '\r\ntransfer-encoding:') === 'chunked') {
      this.#state = 'chunk-size';
    } else {
      throw new Error(`An answer without a length: ${head}`);
    }
    return end + 4;
  }

  #chunkSize(bytes: Buffer, at: number): number | 'more' | 'whole' {
    const end = bytes.indexOf(10, at);
    if (end < 0) return this.#keep(bytes, at);
    const size = Number.parseInt(bytes.toString('latin1', at, end - 1), 16);
    if (size === 0) {
      if (bytes.length < end + 3) return this.#keep(bytes, at);
      return this.#ended(bytes, end + 3);
    }
    this.#left = size;
    this.#state = 'chunk';
    return end + 1;
  }

  #content(bytes: Buffer, at: number): number {
    if (this.#left === 0) return at;
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (end > at) this.#body.push(bytes.toString('latin1', at, end));
    return end;
  }

  #keep(bytes: Buffer, at: number): 'more' {
    if (at < bytes.length) this.#rest = bytes.subarray(at);
    return 'more';
  }

  #ended(bytes: Buffer, end: number): 'whole' {
    if (end < bytes.length) throw new Error(`Bytes after the answer: ${bytes.toString('latin1', end)}`);
    return 'whole';
  }

  #take(): HttpAnswer {
    const body = this.#body.length === 1 && this.#body[0] !== undefined ? this.#body[0] : this.#body.join('');
    const answer = { status: this.#status, body };
    this.#body = [];
    this.#state = 'head';
    return answer;
  }
}

function headerIn(head: string, name: string): string | undefined {
  const start = head.indexOf(name);
  if (start < 0) return undefined;
  const end = head.indexOf('\r\n', start + 2);
  return head.slice(start + name.length, end < 0 ? undefined : end).trim();
}
