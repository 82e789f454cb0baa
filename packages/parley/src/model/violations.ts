import { isBase64 } from './base64.js';
import { isObject } from './json.js';
import { jsonFault, NOT_UNICODE } from './json-fault.js';
import { isTimestamp } from './timestamp.js';
import type { TypeRow, ValueForm } from './type-row.js';
import { TYPE_TABLE, type TypeName } from './type-table.generated.js';

/** The fault of one member: its path, such as `message.parts[0]`, and the expected value. */
export interface Violation {
  readonly field: string;
  readonly description: string;
}

/** Maximum number of violations in an answer, so that a large invalid value gets a small answer. */
export const MAX_VIOLATIONS = 50;

/**
 * The first faults of a value of a type. Empty if it is valid. The compiled validators only decide, so this runs after
 * one of them has refused. The path of the value itself is "".
 */
export function violationsOf(type: TypeName, value: unknown): readonly Violation[] {
  const found: Violation[] = [];
  inspect({ is: 'object', type }, value, { path: '', found });
  return found;
}

interface Place {
  readonly path: string;
  readonly found: Violation[];
}

/** Reports the faults of a value and of its members. */
function inspect(form: ValueForm, value: unknown, place: Place): void {
  if (place.found.length >= MAX_VIOLATIONS) return;
  const fault = faultOf(form, value, place);
  if (fault !== undefined) report(place, fault);
}

/** The fault of the value itself. Faults of members are reported on the way. */
function faultOf(form: ValueForm, value: unknown, place: Place): string | undefined {
  switch (form.is) {
    case 'object':
      return objectFault(TYPE_TABLE[form.type], value, place);
    case 'list':
      return listFault(form, value, place);
    case 'map':
      return mapFault(form, value, place);
    case 'free':
      return isObject(value) ? jsonFault(value) : 'must be an object';
    case 'string':
    case 'integer':
    case 'boolean':
    case 'base64':
    case 'timestamp':
    case 'enum':
    case 'json':
      return scalarFault(form, value);
    default:
      return form satisfies never;
  }
}

function objectFault(row: TypeRow, value: unknown, place: Place): string | undefined {
  if (!isObject(value)) return 'must be an object';
  for (const name in value) {
    if (place.found.length >= MAX_VIOLATIONS) return undefined;
    if (value[name] === undefined || row.members.some((member) => member.name === name)) continue;
    report(memberOf(place, name), isSpelling(name, row) ? 'is given twice' : 'is not a known member');
  }
  for (const { name, required, form } of row.members) {
    if (value[name] !== undefined) inspect(form, value[name], memberOf(place, name));
    else if (required) report(memberOf(place, name), 'is required');
  }
  if (row.exactlyOne === undefined || row.exactlyOne.filter((name) => value[name] !== undefined).length === 1)
    return undefined;
  return `must have exactly one of ${row.exactlyOne.join(', ')}`;
}

/**
 * True if an unknown member is the snake_case spelling of a known one. The conversion of names leaves such a member
 * only if the object also has the other spelling.
 */
function isSpelling(name: string, { members }: TypeRow): boolean {
  const own = name.replace(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase());
  return own !== name && members.some((member) => member.name === own);
}

function listFault(form: ValueForm & { readonly is: 'list' }, value: unknown, place: Place): string | undefined {
  if (!Array.isArray(value)) return 'must be a list';
  if (form.nonEmpty && value.length === 0) return 'must not be empty';
  for (let i = 0; i < value.length && place.found.length < MAX_VIOLATIONS; i++) {
    inspect(form.of, value[i], { path: `${place.path}[${i}]`, found: place.found });
  }
  return undefined;
}

function mapFault(form: ValueForm & { readonly is: 'map' }, value: unknown, place: Place): string | undefined {
  if (!isObject(value)) return 'must be an object';
  for (const name in value) {
    if (place.found.length >= MAX_VIOLATIONS) return undefined;
    if (name.isWellFormed()) inspect(form.of, value[name], memberOf(place, name));
    else report(memberOf(place, name), NOT_UNICODE);
  }
  return undefined;
}

type ScalarForm = Exclude<ValueForm, { readonly is: 'object' | 'list' | 'map' | 'free' }>;

function scalarFault(form: ScalarForm, value: unknown): string | undefined {
  switch (form.is) {
    case 'string':
      if (typeof value !== 'string') return 'must be a string';
      if (form.nonEmpty && value === '') return 'must not be empty';
      return value.isWellFormed() ? undefined : NOT_UNICODE;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value)) return 'must be an integer';
      return value < form.minimum || value > form.maximum
        ? `must be from ${form.minimum} to ${form.maximum}`
        : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'base64':
      return typeof value === 'string' && isBase64(value) ? undefined : 'must be base64';
    case 'timestamp':
      return typeof value === 'string' && isTimestamp(value)
        ? undefined
        : 'must be a timestamp such as 2026-01-31T12:00:00.000Z';
    case 'enum': {
      const names = form.zero ? form.names : form.names.slice(1);
      return names.some((name) => name === value) ? undefined : `must be one of ${names.join(', ')}`;
    }
    case 'json':
      return jsonFault(value);
    default:
      return form satisfies never;
  }
}

function report({ path, found }: Place, description: string): void {
  if (found.length < MAX_VIOLATIONS) found.push({ field: path, description });
}

const PLAIN_NAME = /^[A-Za-z_$][\w$-]{0,63}$/;

function memberOf({ path, found }: Place, name: string): Place {
  if (!PLAIN_NAME.test(name)) return { path: `${path}[${JSON.stringify(name.slice(0, 64))}]`, found };
  return { path: path === '' ? name : `${path}.${name}`, found };
}
