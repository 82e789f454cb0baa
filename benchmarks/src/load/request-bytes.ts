import { QUESTION, type Workload } from '../workloads.js';

const DIGITS = 12;
const PLACE = '#'.repeat(DIGITS);

/** The bytes of one request, made once; before each send the number in its two ids is overwritten in place. */
export class RequestBytes {
  readonly bytes: Buffer;
  readonly #places: number[] = [];

  constructor({ method, streaming }: Workload, port: number, run: string) {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: PLACE,
      method,
      params: {
        message: { messageId: `${run}-${PLACE}`, role: 'ROLE_USER', parts: [{ text: QUESTION }] },
        configuration: { acceptedOutputModes: ['text/plain'] },
      },
    });
    const head = [
      'POST / HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/json',
      `Accept: ${streaming ? 'text/event-stream' : 'application/json'}`,
      'A2A-Version: 1.0',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    this.bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
    for (let at = this.bytes.indexOf(PLACE); at >= 0; at = this.bytes.indexOf(PLACE, at + DIGITS))
      this.#places.push(at);
  }

  /** The request with this number. The bytes are those of the one before: it must have been sent. */
  numbered(number: number): Buffer {
    for (const place of this.#places) {
      let left = number;
      for (let at = place + DIGITS - 1; at >= place; at--) {
        this.bytes[at] = 48 + (left % 10);
        left = Math.floor(left / 10);
      }
    }
    return this.bytes;
  }

  /** The id of that request, as it stands in the JSON of its answer. */
  static idOf(number: number): string {
    return `"id":"${String(number).padStart(DIGITS, '0')}"`;
  }
}
