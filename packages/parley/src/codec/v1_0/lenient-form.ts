import { isObject } from '../../model/json.js';
import type { MemberRow, ValueForm } from '../../model/type-row.js';
import { TYPE_TABLE, type TypeName } from '../../model/type-table.generated.js';
import { defaultOf } from './closed-form.js';
import { membersOf } from './member-names.js';

type Members = Readonly<Record<string, unknown>>;

/** Rules that a reader adds for some types. */
export interface LenientRules {
  /** Changes an object before its members are read. */
  readonly before: { readonly [Type in TypeName]?: (value: Members) => Members };
  /** Types that cannot be used without all required members. In other types a missing required text becomes empty. */
  readonly needsAll: ReadonlySet<TypeName>;
}

/**
 * Reads as much of an object of a type as possible; undefined if it cannot be used. Unlike `toClosedForm` it never
 * leaves a value for a validator to refuse. Unreadable members and items of lists are left out, and so are null and
 * empty optional texts. Names may be in snake_case. Unknown members stay.
 */
export function toLenientForm(
  type: TypeName,
  value: unknown,
  rules: LenientRules,
): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(value)) return undefined;
  const given = rules.before[type]?.(value) ?? value;
  const known = membersOf(type);
  // A map, because an assignment to `__proto__` would change the prototype.
  const read = new Map<string, unknown>();
  for (const [spelling, item] of Object.entries(given)) {
    const member = known.get(spelling);
    const isOwn = spelling === member?.name || (given[member?.name ?? ''] ?? null) === null;
    const found = member === undefined ? item : isOwn ? toMember(member, item, rules) : undefined;
    if (found !== undefined) read.set(member?.name ?? spelling, found);
  }
  for (const { name, required, form } of TYPE_TABLE[type].members) {
    if (!required || read.has(name)) continue;
    const byDefault = absent(form, rules) ?? (form.is === 'string' && !rules.needsAll.has(type) ? '' : undefined);
    if (byDefault === undefined) return undefined;
    read.set(name, byDefault);
  }
  return Object.fromEntries(read);
}

function toMember({ form, required }: MemberRow, value: unknown, rules: LenientRules): unknown {
  const read = toValue(form, value, rules);
  const isEmpty = read === '' && (!required || (form.is === 'string' && form.nonEmpty));
  return isEmpty ? undefined : read;
}

/** The value of a required member that is absent or cannot be read; undefined: it has no default. */
function absent(form: ValueForm, rules: LenientRules): unknown {
  return form.is === 'object' ? toLenientForm(form.type, {}, rules) : defaultOf(form);
}

/** Undefined: the value cannot be read. */
function toValue(form: ValueForm, value: unknown, rules: LenientRules): unknown {
  switch (form.is) {
    case 'object':
      return toLenientForm(form.type, value, rules);
    case 'list':
      return Array.isArray(value) ? value.flatMap((item) => toValue(form.of, item, rules) ?? []) : undefined;
    case 'map':
      return isObject(value) ? toMap(form.of, value, rules) : undefined;
    case 'string':
      return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : BOOLEANS.get(String(value).toLowerCase());
    case 'enum':
      return form.names.find((name) => name === value || name === String(value).toLowerCase());
    case 'free':
      return isObject(value) ? value : undefined;
    case 'integer':
    case 'base64':
    case 'timestamp':
    case 'json':
      return value;
    default:
      return form satisfies never;
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

function toMap(of: ValueForm, value: Members, rules: LenientRules): unknown {
  const read = Object.entries(value).map(([name, item]) => [name, toValue(of, item, rules)] as const);
  return Object.fromEntries(read.filter(([, item]) => item !== undefined));
}
