import type { JsonValue } from 'parley-a2a';
import { MAX_NESTING } from 'parley-a2a/binding-kit';
import { isObject } from 'parley-a2a/kit';
import type { FieldPlan, FieldType, MessagePlan } from './message-plan.js';
import { timestampText } from './timestamp.js';
import {
  BOOL_TAG,
  FIELDS_TAG,
  KEY_TAG,
  LIST_TAG,
  NANOS_TAG,
  NULL_TAG,
  NUMBER_TAG,
  SECONDS_TAG,
  STRING_TAG,
  STRUCT_TAG,
  VALUE_TAG,
  VALUES_TAG,
} from './well-known-tags.js';
import { MalformedMessage, WireReader } from './wire-reader.js';

/** Options for values that the model does not have. */
interface ReadOptions {
  /**
   * True for requests: an unknown enum number and a value that is nested too deeply are kept, so that the validator
   * names their fields. False for answers: the number becomes the first of its enum, and the nesting is an error.
   */
  readonly validated: boolean;
  /** Maximum number of objects and items. */
  readonly items: number;
}

type Members = Record<string, unknown>;
/** Types that are nested messages on the wire. */
type SubmessageType = Extract<FieldType, 'message' | 'timestamp' | 'struct' | 'value'>;

/**
 * Reads a message into its ProtoJSON, with every member that the model requires. Unknown fields are dropped, and
 * fields with another wire type, too.
 * @throws MalformedMessage for bytes that are no message, TooManyItems for one with more than `items`.
 */
export function readMessage(plan: MessagePlan, bytes: Uint8Array, { validated, items }: ReadOptions): Members {
  const source = new WireReader(bytes, items);
  return new MessageReader(source, validated).message(plan, {});
}

class MessageReader {
  readonly #source: WireReader;
  readonly #validated: boolean;

  constructor(source: WireReader, validated: boolean) {
    this.#source = source;
    this.#validated = validated;
  }

  /** Reads the fields up to the bound of the reader. A repeated nested message is merged. */
  message(plan: MessagePlan, into: Members): Members {
    const source = this.#source;
    for (let tag = source.tag(); tag !== 0; tag = source.tag()) {
      const field = plan.byNumber[tag >>> 3];
      if (field === undefined || field.tag !== tag) source.skip(tag);
      else {
        source.count();
        this.#field(field, into);
      }
    }
    for (const { name, make } of plan.required) if (into[name] === undefined) into[name] = make();
    return into;
  }

  #field(field: FieldPlan, into: Members): void {
    const { name, holds } = field;
    if (holds === 'list') {
      const list = into[name] as unknown[] | undefined;
      const item = this.#value(field, undefined);
      if (list === undefined) into[name] = [item];
      else list.push(item);
    } else if (holds === 'map') this.#entry(field, into);
    else {
      const value = this.#value(field, into[name]);
      for (const rival of field.rivals) if (rival in into) delete into[rival];
      if (isAbsent(field, value)) delete into[name];
      else into[name] = value;
    }
  }

  #entry(field: FieldPlan, into: Members): void {
    const source = this.#source;
    const outer = source.enter();
    let key = '';
    let value: unknown;
    for (let tag = source.tag(); tag !== 0; tag = source.tag()) {
      if (tag === KEY_TAG) key = source.string();
      else if (tag === VALUE_TAG) value = this.#value(field, value);
      else source.skip(tag);
    }
    source.leave(outer);
    value ??= field.type === 'message' ? this.#emptyMessage(field) : '';
    into[field.name] ??= {};
    setMember(into[field.name] as Members, key, value);
  }

  #emptyMessage(field: FieldPlan): Members {
    const empty: Members = {};
    for (const { name, make } of field.message().required) empty[name] = make();
    return empty;
  }

  #value(field: FieldPlan, before: unknown): unknown {
    const source = this.#source;
    const { type } = field;
    switch (type) {
      case 'string':
        return source.string();
      case 'bytes':
        return source.base64();
      case 'bool':
        return source.bool();
      case 'int32':
        return source.int32();
      case 'enum': {
        const number = source.int32();
        return field.names.get(number) ?? (this.#validated ? number : field.names.get(0));
      }
    }
    const outer = source.enter();
    const value = this.#readNested(field, type, before);
    source.leave(outer);
    return value;
  }

  #readNested(field: FieldPlan, type: SubmessageType, before: unknown): unknown {
    switch (type) {
      case 'timestamp':
        return this.#timestamp();
      case 'struct':
        return this.#struct(0, isObject(before) ? before : {});
      case 'value':
        return this.#json(0, before as JsonValue);
      case 'message':
        return this.message(field.message(), isObject(before) ? before : {});
      default:
        return type satisfies never;
    }
  }

  #timestamp(): string {
    const source = this.#source;
    let seconds = 0;
    let nanos = 0;
    for (let tag = source.tag(); tag !== 0; tag = source.tag()) {
      if (tag === SECONDS_TAG) seconds = source.int64();
      else if (tag === NANOS_TAG) nanos = source.int32();
      else source.skip(tag);
    }
    return timestampText(seconds, nanos);
  }

  /** Reads a `Value`. One without a kind is null. */
  #json(depth: number, before: JsonValue | undefined): JsonValue {
    const source = this.#source;
    source.count();
    let value: JsonValue = before ?? null;
    for (let tag = source.tag(); tag !== 0; tag = source.tag()) {
      switch (tag) {
        case NULL_TAG:
          source.int32();
          value = null;
          break;
        case NUMBER_TAG:
          value = source.double();
          break;
        case STRING_TAG:
          value = source.string();
          break;
        case BOOL_TAG:
          value = source.bool();
          break;
        case STRUCT_TAG: {
          const outer = source.enter();
          value = this.#struct(depth, isObject(value) ? value : {}) as JsonValue;
          source.leave(outer);
          break;
        }
        case LIST_TAG: {
          const outer = source.enter();
          value = this.#list(depth, Array.isArray(value) ? value : []);
          source.leave(outer);
          break;
        }
        default:
          source.skip(tag);
      }
    }
    return value;
  }

  #struct(depth: number, into: Members): Members {
    const source = this.#source;
    if (this.#isTooDeep(depth)) return into;
    for (let tag = source.tag(); tag !== 0; tag = source.tag()) {
      if (tag !== FIELDS_TAG) {
        source.skip(tag);
        continue;
      }
      const outer = source.enter();
      let key = '';
      let value: JsonValue = null;
      for (let part = source.tag(); part !== 0; part = source.tag()) {
        if (part === KEY_TAG) key = source.string();
        else if (part === VALUE_TAG) {
          const around = source.enter();
          value = this.#json(depth + 1, value);
          source.leave(around);
        } else source.skip(part);
      }
      source.leave(outer);
      setMember(into, key, value);
    }
    return into;
  }

  #list(depth: number, into: JsonValue[]): JsonValue[] {
    const source = this.#source;
    if (this.#isTooDeep(depth)) return into;
    for (let tag = source.tag(); tag !== 0; tag = source.tag()) {
      if (tag !== VALUES_TAG) {
        source.skip(tag);
        continue;
      }
      const outer = source.enter();
      into.push(this.#json(depth + 1, undefined));
      source.leave(outer);
    }
    return into;
  }

  /** True if a container at this depth must stay empty, so that the validator refuses it. */
  #isTooDeep(depth: number): boolean {
    if (depth < MAX_NESTING) return false;
    if (!this.#validated) throw new MalformedMessage(`it is nested more than ${MAX_NESTING} levels deep`);
    return true;
  }
}

/** True for a value that means the same as an absent field. */
function isAbsent(field: FieldPlan, value: unknown): boolean {
  if (field.presence) return field.zeroIsAbsent && value === 0;
  return value === '' || value === false || value === 0 || (field.type === 'enum' && value === field.names.get(0));
}

/** An assignment to `__proto__` would change the prototype. */
function setMember(into: Members, name: string, value: unknown): void {
  if (name !== '__proto__') into[name] = value;
  else Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });
}
