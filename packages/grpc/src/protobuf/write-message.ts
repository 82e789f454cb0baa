import type { FieldPlan, MessagePlan } from './message-plan.js';
import { instantOf } from './timestamp.js';
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
import { WireWriter } from './wire-writer.js';

type Members = Readonly<Record<string, unknown>>;

/** A value that does not fit its field. Requests of a caller may have one; answers of the engine do not. */
export class UnwritableValue extends TypeError {
  override readonly name = 'UnwritableValue';
}

/**
 * The ProtoJSON of a message as bytes. Members without a field are left out, and so are defaults if the field has no
 * presence.
 * @throws UnwritableValue naming the field.
 */
export function writeMessage(plan: MessagePlan, value: object, tail?: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter();
  tail?.(writer);
  message(writer, plan, value as Members);
  return writer.finish();
}

/** Writes the fields, the last one first. */
function message(writer: WireWriter, plan: MessagePlan, value: Members): void {
  const { fields } = plan;
  for (let at = fields.length - 1; at >= 0; at--) {
    const field = fields[at] as FieldPlan;
    const member = value[field.name];
    if (member === undefined || (member === null && field.type !== 'value')) continue;
    if (field.holds === 'one') {
      if (field.presence || !isDefault(field, member)) one(writer, field, member);
    } else if (field.holds === 'list') list(writer, field, member);
    else map(writer, field, member);
  }
}

function list(writer: WireWriter, field: FieldPlan, items: unknown): void {
  if (!Array.isArray(items)) throw unwritable(field, 'a list');
  for (let at = items.length - 1; at >= 0; at--) one(writer, field, items[at]);
}

function map(writer: WireWriter, field: FieldPlan, entries: unknown): void {
  for (const [key, value] of Object.entries(asObject(field, entries)).reverse()) {
    if (value === undefined) continue;
    const before = writer.length;
    content(writer, field, value);
    writer.varint(VALUE_TAG);
    writer.string(key);
    writer.varint(KEY_TAG);
    writer.varint(writer.length - before);
    writer.varint(field.tag);
  }
}

function one(writer: WireWriter, field: FieldPlan, value: unknown): void {
  content(writer, field, value);
  writer.varint(field.tag);
}

function content(writer: WireWriter, field: FieldPlan, value: unknown): void {
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') throw unwritable(field, 'a string');
      return writer.string(value);
    case 'bytes':
      if (typeof value !== 'string' || !writer.base64(value)) throw unwritable(field, 'base64');
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw unwritable(field, 'true or false');
      return writer.varint(value ? 1 : 0);
    case 'int32':
      if (typeof value !== 'number' || (value | 0) !== value) throw unwritable(field, 'an integer');
      return writer.integer(value);
    case 'enum': {
      const number = typeof value === 'string' ? field.numbers.get(value) : undefined;
      if (number === undefined) throw unwritable(field, 'one of its names');
      return writer.varint(number);
    }
  }
  const before = writer.length;
  if (field.type === 'message') message(writer, field.message(), asObject(field, value));
  else if (field.type === 'struct') struct(writer, asObject(field, value));
  else if (field.type === 'value') json(writer, value);
  else timestamp(writer, field, value);
  writer.varint(writer.length - before);
}

function timestamp(writer: WireWriter, field: FieldPlan, value: unknown): void {
  const instant = typeof value === 'string' ? instantOf(value) : undefined;
  if (instant === undefined) throw unwritable(field, 'a timestamp such as 2026-01-31T12:00:00.000Z');
  if (instant.nanos !== 0) {
    writer.varint(instant.nanos);
    writer.varint(NANOS_TAG);
  }
  if (instant.seconds !== 0) {
    writer.integer(instant.seconds);
    writer.varint(SECONDS_TAG);
  }
}

/** Writes the content of a `Struct`. Members that JSON leaves out are left out. */
function struct(writer: WireWriter, value: Members): void {
  const names = Object.keys(value);
  for (let at = names.length - 1; at >= 0; at--) {
    const name = names[at] as string;
    const member = inJson(value[name]);
    if (member === undefined) continue;
    const before = writer.length;
    json(writer, member);
    writer.varint(writer.length - before);
    writer.varint(VALUE_TAG);
    writer.string(name);
    writer.varint(KEY_TAG);
    writer.varint(writer.length - before);
    writer.varint(FIELDS_TAG);
  }
}

/** Writes the content of a `Value`. */
function json(writer: WireWriter, given: unknown): void {
  const value = inJson(given);
  if (typeof value === 'string') {
    writer.string(value);
    writer.varint(STRING_TAG);
  } else if (typeof value === 'number' && Number.isFinite(value)) {
    writer.double(value);
    writer.varint(NUMBER_TAG);
  } else if (typeof value === 'boolean') {
    writer.varint(value ? 1 : 0);
    writer.varint(BOOL_TAG);
  } else if (typeof value === 'object' && value !== null) {
    const before = writer.length;
    if (Array.isArray(value)) items(writer, value);
    else struct(writer, value as Members);
    writer.varint(writer.length - before);
    writer.varint(Array.isArray(value) ? LIST_TAG : STRUCT_TAG);
  } else {
    writer.varint(0);
    writer.varint(NULL_TAG);
  }
}

function items(writer: WireWriter, values: readonly unknown[]): void {
  for (let at = values.length - 1; at >= 0; at--) {
    const before = writer.length;
    json(writer, values[at]);
    writer.varint(writer.length - before);
    writer.varint(VALUES_TAG);
  }
}

/** The value that `JSON.stringify` would write; undefined: it would write none. */
function inJson(value: unknown): unknown {
  switch (typeof value) {
    case 'object':
      return value !== null && 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
    case 'function':
    case 'symbol':
      return undefined;
    case 'bigint':
      throw new UnwritableValue('a bigint is no JSON');
    default:
      return value;
  }
}

function asObject(field: FieldPlan, value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unwritable(field, 'an object');
  return value as Members;
}

function isDefault(field: FieldPlan, value: unknown): boolean {
  return (
    value === '' ||
    value === false ||
    value === 0 ||
    (field.type === 'enum' && field.numbers.get(value as string) === 0)
  );
}

function unwritable({ name }: FieldPlan, wanted: string): UnwritableValue {
  return new UnwritableValue(`${name} must be ${wanted}`);
}
