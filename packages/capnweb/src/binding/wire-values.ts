import { ENVELOPE_LEVELS, MAX_NESTING, tooDeep, tooManyItems, toStandardBase64 } from 'parley-a2a/binding-kit';
import { isBase64 } from 'parley-a2a/kit';
import type { RequestLimits } from 'parley-a2a/server';

/** Options of `fromWire`. */
interface ReceivedValueOptions {
  /** Maximum bytes of all streams in a value. */
  readonly streamBytes: number;
  /** The limits of a request. Absent: those of the frame are enough. */
  readonly limits?: Pick<RequestLimits, 'jsonDepth' | 'jsonItems'>;
  /** Makes the error for a value that no message may contain. */
  readonly fault: (description: string) => Error;
  /** Counts the bytes of all streams so far. The promise resolves when there is room for them; absent: at once. */
  readonly take?: ((bytes: number) => Promise<void> | undefined) | undefined;
  /** Rejects when the streams take too long. */
  readonly late?: Promise<never> | undefined;
}

/** Members with free content, in which no member is one of the protocol. */
const FREE: ReadonlySet<string> = new Set(['metadata', 'data', 'params', 'header']);
/** Names that the library drops from received objects. */
const DROPPED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'toJSON']);
const ESCAPE = '~';
/** Longer files are sent as streams, so that they do not delay other messages. */
const WHOLE_BYTES = 256 * 1024;
const CHUNK_BYTES = 64 * 1024;

/**
 * Encodes a value of the model for a peer. File content becomes bytes, or a stream if it is long. Names that the
 * library drops are escaped. A value without any of these is returned unchanged. So is content that is no base64: the
 * peer names its field.
 * @throws A2AError INVALID_REQUEST for a value that is nested deeper than the model.
 */
export function toWire(value: unknown): unknown {
  return writeValue(value, false, 0);
}

/** Matches texts that may need a change. Quotes within text are escaped, so few others match. */
const CHANGES =
  /"(?:raw|constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|to(?:String|LocaleString|JSON)|valueOf|__(?:proto|(?:define|lookup)(?:Getter|Setter))__)"|"~/;

/** Encodes the JSON of a value of the model for a peer. */
export function toWireFromText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return CHANGES.test(text) ? toWire(value) : value;
}

function writeValue(given: unknown, isFree: boolean, level: number): unknown {
  const value = inJson(given);
  if (typeof value !== 'object' || value === null) return value;
  if (level > MAX_NESTING + ENVELOPE_LEVELS) throw tooDeep(MAX_NESTING);
  if (Array.isArray(value)) return changedList(value, (item) => writeValue(item, isFree, level + 1) ?? null);
  if (isBinary(value)) return value;
  return changedObject(value, (name, given) => {
    const member = inJson(given);
    if (member === undefined) return undefined;
    const key = DROPPED.has(name) || name.startsWith(ESCAPE) ? ESCAPE + name : name;
    if (name === 'raw' && !isFree && typeof member === 'string') return [key, content(member)];
    return [key, writeValue(member, isFree || FREE.has(name), level + 1)];
  });
}

/** The JSON form of a value, one level deep. The library supports more kinds of values. */
function inJson(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'object': {
      if (value === null || isBinary(value)) return value;
      const { toJSON } = value as { readonly toJSON?: unknown };
      return typeof toJSON === 'function' ? inJson(Reflect.apply(toJSON, value, [''])) : value;
    }
    case 'bigint':
      throw new TypeError('A bigint has no JSON form');
    case 'function':
    case 'symbol':
      return undefined;
    default:
      return value;
  }
}

/**
 * Decodes a received value of the model: file content as base64, names without their escape. Reads streams of file
 * content to their end. Not async if there are none.
 * @throws the fault for a function, a capability, or bytes in another place. A2AError INVALID_REQUEST beyond the
 * limits.
 */
export function fromWire(value: unknown, options: ReceivedValueOptions): unknown {
  const contents: Promise<void>[] = [];
  const budget = { left: options.streamBytes, taken: 0 };
  const { jsonDepth = Number.POSITIVE_INFINITY, jsonItems = Number.POSITIVE_INFINITY } = options.limits ?? {};
  let items = 0;
  const count = (further: number): void => {
    items += further;
    if (items > jsonItems) throw tooManyItems(jsonItems);
  };
  const read = (at: unknown, isFree: boolean, level: number): unknown => {
    if (typeof at === 'function') throw options.fault('An object is not data');
    if (typeof at !== 'object' || at === null) return at;
    if (level > jsonDepth + ENVELOPE_LEVELS) throw tooDeep(jsonDepth);
    if (Array.isArray(at)) {
      count(at.length);
      return changedList(at, (item) => read(item, isFree, level + 1));
    }
    if (isBinary(at)) throw options.fault('Bytes are the content of a part only');
    return changedObject(at, (name, member, target) => {
      count(1);
      const key = name.startsWith(ESCAPE) ? name.slice(ESCAPE.length) : name;
      if (name !== 'raw' || isFree || !isBinary(member))
        return [key, read(member, isFree || FREE.has(name), level + 1)];
      if (member instanceof Uint8Array) return [key, base64Of(member)];
      const object = target();
      contents.push(
        collect(member, budget, options).then((bytes) => {
          object[key] = base64Of(bytes);
        }),
      );
      return [key, ''];
    });
  };
  const result = read(value, false, 1);
  return contents.length === 0 ? result : Promise.all(contents).then(() => result);
}

type Binary = Uint8Array | ReadableStream<unknown>;

function isBinary(value: unknown): value is Binary {
  return value instanceof Uint8Array || value instanceof ReadableStream;
}

/** A list with changed items; the same list if none changes. */
function changedList(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const item = change(list[at]);
    if (changed === undefined && item !== list[at]) changed = list.slice(0, at);
    changed?.push(item);
  }
  return changed ?? list;
}

type Member = readonly [name: string, value: unknown];
type ChangeMember = (name: string, value: unknown, target: () => Record<string, unknown>) => Member | undefined;

/** An object with changed members; the same object if none changes. */
function changedObject(object: object, change: ChangeMember): object {
  let changed: Record<string, unknown> | undefined;
  for (const name in object) {
    const value = (object as Record<string, unknown>)[name];
    const target = () => {
      changed ??= membersBefore(object, name);
      return changed;
    };
    const member = change(name, value, target);
    if (member !== undefined && member[0] === name && member[1] === value) {
      if (changed !== undefined) define(changed, name, value);
    } else {
      const all = target();
      if (member !== undefined) define(all, member[0], member[1]);
    }
  }
  return changed ?? object;
}

function membersBefore(object: object, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name in object) {
    if (name === end) break;
    define(copy, name, (object as Record<string, unknown>)[name]);
  }
  return copy;
}

/** Sets a member of any name. An assignment to `__proto__` would change the prototype. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function content(text: string): Binary | string {
  const base64 = toStandardBase64(text);
  if (!isBase64(base64)) return text;
  const bytes = bytesOf(base64);
  return bytes.length <= WHOLE_BYTES ? bytes : chunksOf(bytes);
}

/** Streams bytes in chunks, which are read on demand. */
export function chunksOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (at >= bytes.length) {
          controller.close();
          return;
        }
        controller.enqueue(bytes.slice(at, at + CHUNK_BYTES));
        at += CHUNK_BYTES;
      },
    },
    { highWaterMark: 0 },
  );
}

async function collect(
  stream: ReadableStream<unknown>,
  budget: { left: number; taken: number },
  { fault, take, late }: ReceivedValueOptions,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  const brokenOff = (): never => {
    throw fault('A stream of file content broke off');
  };
  const read = () => {
    const chunk = reader.read().catch(brokenOff);
    return late === undefined ? chunk : Promise.race([chunk, late]);
  };
  try {
    for (let next = await read(); !next.done; next = await read()) {
      if (!(next.value instanceof Uint8Array)) throw fault('A stream of file content has bytes only');
      length += next.value.length;
      budget.left -= next.value.length;
      if (budget.left < 0) throw fault('The content of a file is too long');
      chunks.push(next.value);
      budget.taken += next.value.length;
      await take?.(budget.taken);
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Chunk size for hosts without native base64, because a call has a limited number of arguments. */
const PIECE = 0x6000;

/** Bytes as standard base64. */
export function base64Of(bytes: Uint8Array): string {
  const { Buffer } = globalThis as {
    Buffer?: { from(bytes: ArrayBufferLike, at: number, length: number): { toString(as: string): string } };
  };
  if (Buffer !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  return text;
}

/** The bytes of a text in standard base64. */
export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
