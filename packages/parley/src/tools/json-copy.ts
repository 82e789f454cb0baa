import type { JsonValue } from '../model/json.js';
import { isPlainObject, NOT_UNICODE } from '../model/json-fault.js';
import { ToolError } from './tool.js';

/** Maximum nesting of arguments and results. An event may have 100 levels, with its own. */
const MOST_LEVELS = 64;

/** JSON writes a code unit as 6 bytes at most. */
const ESCAPED_BYTES = 6;
/** Approximate bytes of the longest number. */
const NUMBER_BYTES = 25;

/** The value to copy. */
interface CopiedValue {
  readonly what: 'arguments' | 'result';
  readonly tool: string;
  readonly mostBytes: number;
}

/**
 * Copies and checks arguments or a result. Each member is read once.
 * @throws ToolError if the value is no JSON, nested too deeply, or too large.
 */
export function jsonCopy(value: unknown, copied: CopiedValue): JsonValue {
  // Fast path: many tools take and return a short text.
  const isShort = typeof value === 'string' && bytesOf(value) <= copied.mostBytes;
  if (isShort && value.isWellFormed()) return value;
  const copier = new Copier(copied);
  const copy = copier.copy(value, MOST_LEVELS);
  copier.checkSize(copy);
  return copy;
}

class Copier {
  readonly #copied: CopiedValue;
  /** Lower and upper bounds of the size of the copy in bytes. */
  #least = 0;
  #most = 0;

  constructor(copied: CopiedValue) {
    this.#copied = copied;
  }

  copy(value: unknown, levels: number): JsonValue {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        if (!Number.isFinite(value)) throw this.#fault('must be a finite number');
        this.#count(1, NUMBER_BYTES);
        return value;
      case 'boolean':
        this.#count(1, NUMBER_BYTES);
        return value;
      case 'object':
        this.#count(2, NUMBER_BYTES);
        return value === null ? null : this.#container(value, levels);
      default:
        throw this.#fault('must be JSON');
    }
  }

  /** @throws ToolError if the copy is too large. */
  checkSize(copy: JsonValue): void {
    const { mostBytes } = this.#copied;
    if (this.#most <= mostBytes) return;
    if (new TextEncoder().encode(JSON.stringify(copy)).length > mostBytes) throw this.#tooLarge();
  }

  #text(value: string): string {
    if (!value.isWellFormed()) throw this.#fault(NOT_UNICODE);
    this.#count(value.length, bytesOf(value));
    return value;
  }

  #container(value: object, levels: number): JsonValue {
    if (levels === 0) throw this.#fault(`must not be nested more than ${MOST_LEVELS} levels deep`);
    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (let at = 0; at < value.length; at += 1) items.push(this.copy(value[at], levels - 1));
      return items;
    }
    if (!isPlainObject(value)) throw this.#fault('must be a plain object');
    const copy: Record<string, JsonValue> = {};
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue;
      const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
      if (member === undefined) continue;
      this.#text(name);
      const own = this.copy(member, levels - 1);
      // An assignment to this name would change the prototype.
      if (name === '__proto__') Object.defineProperty(copy, name, { ...PLAIN, value: own });
      else copy[name] = own;
    }
    return copy;
  }

  /** An object that is referenced in many places is small in memory and huge as JSON. */
  #count(least: number, most: number): void {
    this.#least += least;
    this.#most += most;
    if (this.#least > this.#copied.mostBytes) throw this.#tooLarge();
  }

  #tooLarge(): ToolError {
    const { what, tool, mostBytes } = this.#copied;
    const has = what === 'result' ? 'has' : 'have';
    return new ToolError(`The ${what} of ${tool} ${has} more than ${mostBytes} bytes.`, 'limit');
  }

  #fault(text: string): ToolError {
    const { what, tool } = this.#copied;
    return new ToolError(`The ${what} of ${tool} ${text}.`, what === 'result' ? 'invalid_output' : 'invalid_input');
  }
}

/** The most bytes of a text, with quotes, a comma and a colon. */
function bytesOf(text: string): number {
  return text.length * ESCAPED_BYTES + 4;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;
