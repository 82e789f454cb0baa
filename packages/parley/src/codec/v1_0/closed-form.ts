import { toStandardBase64 } from '../../model/base64.js';
import { isObject } from '../../model/json.js';
import type { MemberRow, ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import type { WireForm } from '../wire-codec.js';
import { membersOf } from './member-names.js';
import { toUtc } from './timestamp.js';

/**
 * Converts a value to the closed form of the model, as far as ProtoJSON allows other forms (Spec §5.5–§5.7). These are
 * other spellings of names, numbers of enums, integers as texts, URL-safe base64, time offsets, `null` for absent,
 * omitted defaults and unknown members. A value that cannot be converted stays as it is; the validator refuses it. Free
 * objects and `data` are not changed.
 */
export function toClosedForm(type: TypeName, value: unknown, form: WireForm): unknown {
  if (!isObject(value)) return value;
  const known = membersOf(type);
  const closed: Record<string, unknown> = {};
  /** Members that the object has under another spelling. */
  let respelled: Set<string> | undefined;
  for (const spelling in value) {
    const member = known.get(spelling);
    if (member === undefined) continue;
    const { name } = member;
    if (spelling !== name) {
      // A second spelling stays, so that the validator refuses it.
      if (Object.hasOwn(value, name) || respelled?.has(name) === true) {
        closed[spelling] = value[spelling];
        continue;
      }
      respelled ??= new Set();
      respelled.add(name);
    }
    const converted = toMember(member, value[spelling], form);
    if (converted !== undefined) closed[name] = converted;
  }
  for (const { name, required, form } of TYPE_TABLE[type].members) {
    if (!required || closed[name] !== undefined) continue;
    const byDefault = defaultOf(form);
    if (byDefault !== undefined) closed[name] = byDefault;
  }
  return closed;
}

/** The protobuf default of a required member, which many serializers omit; undefined if the model does not allow it. */
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
    case 'boolean':
    case 'base64':
    case 'timestamp':
    case 'object':
    case 'free':
    case 'json':
      return undefined;
    default:
      return form satisfies never;
  }
}

/** The value of a member; undefined if it counts as absent. */
function toMember({ form, required }: MemberRow, value: unknown, wire: WireForm): unknown {
  if (form.is === 'json') return value;
  if (value === null) return undefined;
  const converted = toValue(form, value, wire);
  return !required && isDefault(form, converted) ? undefined : converted;
}

/** True if a value is a protobuf default that the model does not allow, and so counts as absent. */
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
    case 'string':
    case 'free':
    case 'json':
      return value;
    default:
      return form satisfies never;
  }
}

function toMap(of: ValueForm, value: Readonly<Record<string, unknown>>, wire: WireForm): unknown {
  // `Object.fromEntries` defines members: an assignment to `__proto__` would change the prototype.
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
