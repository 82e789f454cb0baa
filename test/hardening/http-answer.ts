/** One complete answer, read strictly by RFC 9112. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case, in the order of the wire. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
}

/** An answer and where the next one begins. */
export interface ReadAnswer {
  readonly answer: HttpAnswer;
  readonly end: number;
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/;
const HEADER = /^([a-zA-Z0-9-]+): ([\x20-\x7e]*)$/;

/**
 * The answer that begins at `start`; undefined as long as it is not complete. Interim answers (100) are passed over.
 * @throws Error for what is no answer in good form: a doubled header, a wrong length, bytes that belong to nothing.
 */
export function readAnswer(bytes: Buffer, start: number, method: string): ReadAnswer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n', start);
  if (headEnd === -1) {
    const begin = bytes.subarray(start, start + 9).toString('latin1');
    if (!'HTTP/1.1 '.startsWith(begin)) throw new Error(`no answer begins with ${JSON.stringify(begin)}`);
    return undefined;
  }
  const [statusLine = '', ...lines] = bytes.subarray(start, headEnd).toString('latin1').split('\r\n');
  const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(statusLine)}`);
  if (status === 100) return readAnswer(bytes, headEnd + 4, method);
  const headers = readHeaders(lines);
  const body = readBody({
    bytes,
    start: headEnd + 4,
    headers,
    empty: method === 'HEAD' || status === 204 || status === 304,
  });
  if (body === undefined) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body.content);
  return { answer: { status, headers, body: body.content, text }, end: body.end };
}

function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    if (name === '') throw new Error(`no header line: ${JSON.stringify(line)}`);
    if (headers.has(name.toLowerCase())) throw new Error(`the header ${name} is there twice`);
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

interface BodyPlace {
  readonly bytes: Buffer;
  readonly start: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly empty: boolean;
}

function readBody({ bytes, start, headers, empty }: BodyPlace): { content: Buffer; end: number } | undefined {
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  if (length !== undefined && coding !== undefined) throw new Error('an answer with a length and a transfer coding');
  if (empty) return { content: Buffer.alloc(0), end: start };
  if (coding === 'chunked') return readChunks(bytes, start);
  if (length === undefined || !/^\d+$/.test(length)) throw new Error(`an answer of the length ${length}`);
  const end = start + Number(length);
  return bytes.length < end ? undefined : { content: bytes.subarray(start, end), end };
}

function readChunks(bytes: Buffer, start: number): { content: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = bytes.subarray(at, lineEnd).toString('latin1');
    if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`no chunk size: ${JSON.stringify(size)}`);
    const end = lineEnd + 2 + Number.parseInt(size, 16);
    if (bytes.length < end + 2) return undefined;
    if (bytes.subarray(end, end + 2).toString() !== '\r\n') throw new Error('a chunk does not end where it should');
    if (size === '0') return { content: Buffer.concat(chunks), end: end + 2 };
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}

/** Returns all answers of a connection in order. Fails if the rest is no complete answer. */
export function readAnswers(bytes: Buffer, method = 'POST'): readonly HttpAnswer[] {
  const answers: HttpAnswer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = readAnswer(bytes, at, method);
    if (next === undefined)
      throw new Error(`an answer breaks off: ${JSON.stringify(bytes.subarray(at, at + 200).toString())}`);
    answers.push(next.answer);
    at = next.end;
  }
  return answers;
}
