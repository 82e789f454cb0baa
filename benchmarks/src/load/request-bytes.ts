import { askedTask, STORED_TASK_DIGITS, STORED_TASK_PREFIX } from '../stored-tasks.js';
import { paramsOf, type Workload } from '../workloads.js';

const DIGITS = STORED_TASK_DIGITS;
const NUMBER_PLACE = '#'.repeat(DIGITS);
const TASK_PLACE = '@'.repeat(DIGITS);

/** The address of requests, and the parts that differ between runs. */
export interface RequestPlace {
  readonly port: number;
  /** Distinguishes the ids of this run from those of others. */
  readonly run: string;
  /** Further lines of the head. */
  readonly headers?: readonly string[] | undefined;
}

/** The bytes of one request, made once; before each send the numbers in its ids are overwritten in place. */
export class RequestBytes {
  readonly bytes: Buffer;
  readonly #tasks: number;
  readonly #numberPlaces: readonly number[];
  readonly #taskPlaces: readonly number[];

  constructor(workload: Workload, { port, run, headers = [] }: RequestPlace) {
    const { method, path, kind, tasks, version } = workload;
    const params = paramsOf(workload, `${run}-${NUMBER_PLACE}`, STORED_TASK_PREFIX + TASK_PLACE);
    const body = JSON.stringify(method === undefined ? params : { jsonrpc: '2.0', id: NUMBER_PLACE, method, params });
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/json',
      `Accept: ${kind === 'stream' ? 'text/event-stream' : 'application/json'}`,
      `A2A-Version: ${version}`,
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    this.bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
    this.#tasks = tasks;
    this.#numberPlaces = placesIn(this.bytes, NUMBER_PLACE);
    this.#taskPlaces = placesIn(this.bytes, TASK_PLACE);
  }

  /** The request with this number. The bytes are those of the one before: it must have been sent. */
  numbered(number: number): Buffer {
    for (const place of this.#numberPlaces) this.#write(place, number);
    for (const place of this.#taskPlaces) this.#write(place, askedTask(number, this.#tasks));
    return this.bytes;
  }

  #write(place: number, number: number): void {
    let left = number;
    for (let at = place + DIGITS - 1; at >= place; at--) {
      this.bytes[at] = 48 + (left % 10);
      left = Math.floor(left / 10);
    }
  }

  /** The id of a request as a JSON string. Servers differ in the space before it. */
  static idOf(number: number): string {
    return `"${String(number).padStart(DIGITS, '0')}"`;
  }
}

function placesIn(bytes: Buffer, place: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(place); at >= 0; at = bytes.indexOf(place, at + DIGITS)) found.push(at);
  return found;
}
