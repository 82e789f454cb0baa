import { isObject } from '../../model/json.js';
import type { MemberRow, ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import { hasForm } from '../../model/violations.js';
import type { WireForm } from '../wire-codec.js';
import { toStandardBase64 } from './base64.js';
import { membersOf } from './member-names.js';
import { toUtc } from './timestamp.js';

/**
 * The value of a type in the closed form of the model, as far as ProtoJSON allows other forms of it (spec §5.5–§5.7): other
 * spellings of names, enum numbers, integers as texts, URL-safe base64, offsets, `null` for absent, defaults left out, unknown
 * members. What cannot be converted stays as it is, for the validator to refuse. Free objects and `data` are taken over untouched.
 */
export function toClosedForm(type: TypeName, value: unknown, form: WireForm): unknown {
  if (!isObject(value)) return value;
  const known = membersOf(type);
  const closed: Record<string, unknown> = {};
  for (const spelling in value) {
    const member = known.get(spelling);
    if (member === undefined) continue;
    const converted = toMember(member, value[spelling], form);
    if (converted === undefined) continue;
    const { name } = member;
    if (spelling === name || !(name in closed || isShadowed(value, name, member.form))) closed[name] = converted;
    // What does not count must be valid all the same: it stays where the validator refuses it.
    else if (!hasForm(member.form, converted)) closed[spelling] = converted;
  }
  for (const { name, required, form } of TYPE_TABLE[type].members) {
    if (!required || closed[name] !== undefined) continue;
    const byDefault = defaultOf(form);
    if (byDefault !== undefined) closed[name] = byDefault;
  }
  return closed;
}

/** The protobuf default of a required member, which many serializers leave out; undefined if the model does not allow it. */
export function defaultOf(form: ValueForm): unknown {
  switch (form.is) {
    case 'string':
      return form.nonEmpty ? undefined : '';
    case 'list':
      return form.nonEmpty ? undefined : [];
    case 'map':
      return {};
    case 'integer':
      return form.minimum <= 0 ? 0 : undefined;
    case 'enum':
      return form.numbered && form.zero ? form.names[0] : undefined;
    default:
      return undefined;
  }
}

/** Whether the member is there under its own name too, which then wins. */
function isShadowed(value: Readonly<Record<string, unknown>>, name: string, form: ValueForm): boolean {
  if (!Object.hasOwn(value, name)) return false;
  return form.is === 'json' || (value[name] !== null && value[name] !== undefined);
}

/** The value of a member; undefined if it is as good as absent. */
function toMember({ form, required }: MemberRow, value: unknown, wire: WireForm): unknown {
  if (form.is === 'json') return value;
  if (value === null) return undefined;
  const converted = toValue(form, value, wire);
  return !required && isDefault(form, converted) ? undefined : converted;
}

/** Whether a value says no more than its absence: a plain protobuf field at a default that the model does not allow. */
function isDefault(form: ValueForm, value: unknown): boolean {
  if (form.is === 'string') return form.nonEmpty && value === '';
  return form.is === 'enum' && form.numbered && !form.zero && value === form.names[0];
}

function toValue(form: ValueForm, value: unknown, wire: WireForm): unknown {
  switch (form.is) {
    case 'object':
      return toClosedForm(form.type, value, wire);
    case 'list':
      return Array.isArray(value) ? value.map((item) => toValue(form.of, item, wire)) : value;
    case 'map':
      return isObject(value) ? toMap(form.of, value, wire) : value;
    case 'enum':
      return form.numbered ? toName(form.names, value, wire) : value;
    case 'integer':
      return typeof value === 'string' ? toInteger(value) : value;
    case 'boolean':
      return wire === 'text' ? toBoolean(value) : value;
    case 'base64':
      return typeof value === 'string' ? toStandardBase64(value) : value;
    case 'timestamp':
      return typeof value === 'string' ? toUtc(wire === 'text' ? value.replace(' ', '+') : value) : value;
    default:
      return value;
  }
}

function toMap(of: ValueForm, value: Readonly<Record<string, unknown>>, wire: WireForm): unknown {
  // Entries are defined, not assigned, so that a name such as __proto__ is a name like any other.
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toValue(of, item, wire)]));
}

function toName(names: readonly string[], value: unknown, wire: WireForm): unknown {
  const number = wire === 'text' && typeof value === 'string' ? toInteger(value) : value;
  return typeof number === 'number' ? (names[number] ?? value) : value;
}

const INTEGER = /^-?(?:0|[1-9]\d{0,14})(?:\.0{1,15})?$/;

function toInteger(text: string): unknown {
  return INTEGER.test(text) ? Number(text) : text;
}

function toBoolean(value: unknown): unknown {
  return value === 'true' ? true : value === 'false' ? false : value;
}
