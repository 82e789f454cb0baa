import { tooDeep, tooManyItems } from '../../errors/standard-errors.js';
import { ENVELOPE_LEVELS } from '../../model/json-fault.js';
import type { RequestLimits } from '../http/binding-context.js';
import { payloadTooLarge } from '../http/read-chunks.js';

/** The limits of a request that is not a text. */
export type CopyLimits = Pick<RequestLimits, 'bodyBytes' | 'jsonDepth' | 'jsonItems'>;

/** Approximate number of characters that JSON adds to a member or an item. */
const PUNCTUATION = 2;
const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

/**
 * Copies a request with the values that its JSON would have, so that the caller may change its own objects afterwards.
 * @throws A2AError PAYLOAD_TOO_LARGE or INVALID_REQUEST, for a request beyond the limits; TypeError for a value without
 * a JSON form.
 */
export function copiedRequest(request: unknown, limits: CopyLimits): unknown {
  return new Copier(limits).copy(request, 0);
}

class Copier {
  readonly #limits: CopyLimits;
  /** The remaining budget in bytes; a character counts as one byte. */
  #left: number;
  #itemsLeft: number;

  constructor(limits: CopyLimits) {
    this.#limits = limits;
    this.#left = limits.bodyBytes;
    this.#itemsLeft = limits.jsonItems;
  }

  copy(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        this.#take(value.length + PUNCTUATION);
        return value;
      case 'number':
        this.#take(PUNCTUATION);
        return Number.isFinite(value) ? value : null;
      case 'object':
        this.#take(PUNCTUATION);
        return value === null ? null : this.#within(value, depth + 1);
      case 'bigint':
        throw new TypeError('A bigint has no JSON form');
      case 'boolean':
        this.#take(PUNCTUATION);
        return value;
      default:
        return undefined;
    }
  }

  #within(value: object, depth: number): unknown {
    const { jsonDepth } = this.#limits;
    if (depth > jsonDepth + ENVELOPE_LEVELS) throw tooDeep(jsonDepth);
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === 'function') return this.copy(Reflect.apply(toJSON, value, ['']), depth);
    if (Array.isArray(value)) return this.#list(value, depth);
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const own = this.copy((value as Readonly<Record<string, unknown>>)[name], depth);
      if (own === undefined) continue;
      this.#take(name.length + PUNCTUATION);
      this.#count();
      // An assignment to this name would change the prototype.
      if (name === '__proto__') Object.defineProperty(copy, name, { ...PLAIN, value: own });
      else copy[name] = own;
    }
    return copy;
  }

  /** As in JSON, an item without a JSON form is null. */
  #list(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const item of items) {
      this.#count();
      copy.push(this.copy(item, depth) ?? null);
    }
    return copy;
  }

  #count(): void {
    this.#itemsLeft -= 1;
    if (this.#itemsLeft >= 0) return;
    const { jsonItems } = this.#limits;
    throw tooManyItems(jsonItems);
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const { bodyBytes } = this.#limits;
    throw payloadTooLarge(bodyBytes);
  }
}
