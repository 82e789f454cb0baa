import { randomBytes } from 'node:crypto';

/** A request to a webhook. */
export interface InboxRequest {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
  readonly body: AsyncIterator<Uint8Array>;
}

/** The response of a webhook. */
export interface InboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A webhook of the library. It checks token, signature, age and size of a notification. */
export interface Receiver {
  answer(request: InboxRequest): Promise<InboxAnswer>;
}

/** Options of such a webhook. */
export interface InboxReceiverOptions {
  readonly token: string;
  readonly bytes: number;
  readonly onNotification: () => void;
  readonly signature?: { readonly issuer: string; readonly audience: string; readonly jwksUrl: string };
}

/** A notification as it arrived. Secrets are left out. */
export interface Delivery {
  /** The number of the delivery in the inbox, from 1. */
  readonly number: number;
  /** ms since the epoch. */
  readonly at: number;
  /** The answer of the inbox. */
  readonly status: number;
  /** The reason of a refusal. */
  readonly reason: string | undefined;
  /** The number of the delivery among those with the same id, from 1. Undefined: the agent sends no ids. */
  readonly attempt: number | undefined;
  /** True if the inbox has acknowledged the same notification before. */
  readonly isDuplicate: boolean;
  /** True if a later event of the same task has arrived before. */
  readonly isLate: boolean;
  readonly signature: 'absent' | 'verified' | 'invalid' | 'unchecked';
  /** The key and the issuer that the signature names. */
  readonly signer: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The beginning of the body, and its length in bytes. */
  readonly body: { readonly text: string; readonly length: number };
}

/** The options of an inbox. */
interface InboxOptions {
  /** Its address for the agent. */
  readonly url: string;
  readonly keysUrl: string | undefined;
  readonly receiver: (options: InboxReceiverOptions) => Promise<Receiver>;
}

const MOST_DELIVERIES = 200;
const MOST_WAITING = 8;
const MOST_TEXT = 20_000;
const MOST_BYTES = 4 * 1024 * 1024;
const WAIT_MS = 20_000;
const ID = 'x-a2a-notification-id';
const SIGNATURE = 'x-a2a-notification-signature';
const SHOWN = ['content-type', 'user-agent', 'a2a-version', 'traceparent', ID, 'x-a2a-notification-timestamp'];
const SECRETS = ['x-a2a-notification-token', SIGNATURE, 'authorization'];

/** One webhook and its latest deliveries. */
export class Inbox {
  readonly url: string;
  /** The token that the agent sends. */
  readonly token = secret();
  /** The key of the page that reads it. */
  readonly key = secret();
  readonly #options: InboxOptions;
  readonly #waiting = new Set<() => void>();
  /** The highest event number, by the task and its configuration. */
  readonly #newest = new Map<string, number>();
  #deliveries: readonly Delivery[] = [];
  #count = 0;
  #fails = false;
  #plain: Promise<Receiver> | undefined;
  #signed: Promise<Receiver> | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.url = options.url;
  }

  /** The latest deliveries, the latest first. */
  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  /** The number of all deliveries. */
  get count(): number {
    return this.#count;
  }

  /** Answers the next notification with an error, so that the agent retries. */
  failNext(): void {
    this.#fails = true;
  }

  /** Resolves when there are more deliveries than `after`, or after a time. */
  async changed(after: number): Promise<void> {
    if (this.#count !== after) return;
    const [oldest] = this.#waiting;
    // Dropped, because a closed page would wait until the time limit.
    if (this.#waiting.size >= MOST_WAITING) oldest?.();
    await new Promise<void>((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, WAIT_MS);
      timer.unref();
      this.#waiting.add(go);
    });
  }

  /** Ends the waits. */
  close(): void {
    for (const go of [...this.#waiting]) go();
  }

  /** Answers a notification, and stores it. */
  async take(request: InboxRequest): Promise<InboxAnswer> {
    const { header, method } = request;
    const chunks: Uint8Array[] = [];
    const body = copyChunks(request.body, chunks);
    const signer = signerOf(header);
    const { keysUrl } = this.#options;
    let signature: Delivery['signature'] = signer === undefined ? 'absent' : 'unchecked';
    let answer: InboxAnswer | undefined;
    if (signer !== undefined && keysUrl !== undefined) {
      const { issuer } = signer;
      this.#signed ??= this.#receiver({ issuer, audience: this.url, jwksUrl: keysUrl });
      const checked = await (await this.#signed).answer({ method, header, body });
      // The keys cannot be read. Then the notification is accepted, and the page shows it as unchecked.
      if (checked.status !== 503) {
        signature = signatureAfter(checked.status);
        answer = checked;
      }
    }
    this.#plain ??= this.#receiver();
    answer ??= await (await this.#plain).answer({ method, header, body: replay(chunks, body) });
    this.#keep({ header, answer, chunks, signature, signer: signer && `${signer.kid} of ${signer.issuer}` });
    return answer;
  }

  #receiver(signature?: InboxReceiverOptions['signature']): Promise<Receiver> {
    const onNotification = (): void => {
      if (!this.#fails) return;
      this.#fails = false;
      throw new Error('The user of the inbox refuses the notification');
    };
    const options = { token: this.token, bytes: MOST_BYTES, onNotification };
    return this.#options.receiver({ ...options, ...(signature !== undefined && { signature }) });
  }

  #keep({ header, answer, chunks, signature, signer }: Kept): void {
    const id = header(ID)?.slice(0, 500);
    const earlier = id === undefined ? [] : this.#deliveries.filter((one) => idOf(one) === id);
    const { status } = answer;
    const delivery: Delivery = {
      number: ++this.#count,
      at: Date.now(),
      status,
      reason: status < 300 ? undefined : reasonIn(answer.body),
      attempt: id === undefined ? undefined : earlier.length + 1,
      isDuplicate: earlier.some((one) => one.status < 300),
      isLate: id !== undefined && status < 300 && this.#isLate(id),
      signature,
      signer,
      headers: headersOf(header),
      body: textOf(chunks),
    };
    this.#deliveries = [delivery, ...this.#deliveries].slice(0, MOST_DELIVERIES);
    this.close();
  }

  /** The last segment of an id of Parley is the number of the event. */
  #isLate(id: string): boolean {
    const at = id.lastIndexOf('/');
    const [queue, number] = [id.slice(0, at), Number(id.slice(at + 1))];
    if (at < 1 || !Number.isInteger(number)) return false;
    const newest = this.#newest.get(queue) ?? -1;
    if (this.#newest.size < MOST_DELIVERIES || this.#newest.has(queue)) {
      this.#newest.set(queue, Math.max(newest, number));
    }
    return number < newest;
  }
}

interface Kept extends Pick<Delivery, 'signature' | 'signer'> {
  readonly header: InboxRequest['header'];
  readonly answer: InboxAnswer;
  readonly chunks: readonly Uint8Array[];
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

async function* copyChunks(body: AsyncIterator<Uint8Array>, chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (let bytes = 0; bytes <= MOST_BYTES; ) {
    const { done, value } = await body.next();
    if (done === true) return;
    bytes += value.length;
    chunks.push(value.slice());
    yield value;
  }
}

async function* replay(chunks: readonly Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* [...chunks];
  yield* rest;
}

/** The outcome of the check, from the status of the receiver. It checks length and type of a body first. */
function signatureAfter(status: number): Delivery['signature'] {
  if (status === 401) return 'invalid';
  // 500: the user of the inbox refused it after the check.
  return status < 300 || status === 500 ? 'verified' : 'unchecked';
}

/** The key and the issuer that a signature names. */
function signerOf(header: InboxRequest['header']): { readonly kid: string; readonly issuer: string } | undefined {
  const [head, claims] = (header(SIGNATURE) ?? '').split('.').map(decodeSegment);
  if (head === undefined || claims === undefined) return undefined;
  return {
    kid: String(head.kid ?? 'a key without a name').slice(0, 100),
    issuer: String(claims.iss ?? '').slice(0, 300),
  };
}

function decodeSegment(segment: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(Buffer.from(segment, 'base64url').toString()));
  } catch {
    return {};
  }
}

function idOf({ headers }: Delivery): string | undefined {
  return headers.find(([name]) => name === ID)?.[1];
}

function headersOf(header: InboxRequest['header']): Delivery['headers'] {
  const shown = SHOWN.map((name) => [name, header(name)?.slice(0, 500)] as const);
  const secrets = SECRETS.map((name) => [name, header(name) === undefined ? undefined : '[redacted]'] as const);
  return [...shown, ...secrets].flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function textOf(chunks: readonly Uint8Array[]): Delivery['body'] {
  const bytes = Buffer.concat(chunks);
  // A copied string, so that the bytes of a large body can be collected.
  return { text: bytes.subarray(0, MOST_TEXT).toString(), length: bytes.length };
}

function reasonIn(body: string): string | undefined {
  const { error } = decodeSegment(Buffer.from(body).toString('base64url'));
  return typeof error === 'string' ? error : undefined;
}
