import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import { patternCost } from './pattern-cost.js';

const MOST_CHARACTERS = 65_536;
const MOST_LEVELS = 32;
/** Items that are compared with each other. */
const MOST_UNIQUE_ITEMS = 10_000;
/** Characters of a text that a `format` is tried on. */
const LONGEST_FORMATTED = 4_096;

/** Keywords whose time has no bound, or whose schemas are elsewhere. */
const REFUSED = [
  '$dynamicRef',
  '$recursiveRef',
  '$dynamicAnchor',
  'unevaluatedItems',
  'unevaluatedProperties',
  'patternProperties',
];

/** Keywords whose values are data, and no schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose members are schemas by a free name. */
const MAPS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/**
 * The problems of a JSON Schema (draft 2020-12) for data from outside. It has bounds, and takes a time that grows at
 * most with the length of the data. A schema that refers to itself has no such bound.
 */
export function schemaProblems(schema: JsonObject): readonly string[] {
  let length: number;
  try {
    length = JSON.stringify(schema).length;
  } catch {
    return ['must be JSON'];
  }
  if (length > MOST_CHARACTERS) return [`must have at most ${MOST_CHARACTERS} characters as JSON`];
  const problems: string[] = [];
  inspect(schema, { root: schema, place: '#', level: 0, refs: [], problems });
  return [...new Set(problems)];
}

interface Place {
  readonly root: JsonObject;
  readonly place: string;
  readonly level: number;
  /** The references that led here. */
  readonly refs: readonly string[];
  readonly problems: string[];
}

function inspect(schema: JsonValue, at: Place): void {
  const { place, level, problems } = at;
  if (typeof schema === 'boolean' || problems.length > 0) return;
  if (!isObject(schema)) return void problems.push(`${place} must be a schema`);
  if (level > MOST_LEVELS) return void problems.push(`must have at most ${MOST_LEVELS} levels`);
  for (const [name, value] of Object.entries(schema as JsonObject)) {
    const inside = `${place}/${name}`;
    if (REFUSED.includes(name)) problems.push(`${inside} is not supported`);
    else if (name === 'pattern') inspectPattern(value, inside, problems);
    else if (name === '$ref') follow(value, at, inside);
    else if (MAPS.has(name) && isObject(value)) {
      for (const [key, one] of Object.entries(value as JsonObject)) {
        inspect(one as JsonValue, { ...at, place: `${inside}/${key}`, level: level + 1 });
      }
    } else if (!DATA.has(name)) inspectInner(value as JsonValue, { ...at, place: inside, level: level + 1 });
  }
}

/** A schema, or a list of schemas. Other values of keywords need no look. */
function inspectInner(value: JsonValue, at: Place): void {
  if (Array.isArray(value)) {
    for (const one of value as readonly JsonValue[]) if (isObject(one)) inspect(one as JsonValue, at);
  } else if (isObject(value)) inspect(value as JsonValue, at);
}

function inspectPattern(value: unknown, place: string, problems: string[]): void {
  const cost = typeof value === 'string' ? patternCost(value) : { problem: 'must be a text' };
  if ('problem' in cost) problems.push(`${place} ${cost.problem}`);
}

function follow(value: unknown, at: Place, place: string): void {
  const { root, refs, problems, level } = at;
  if (typeof value !== 'string' || !value.startsWith('#/')) return void problems.push(`${place} must begin with #/`);
  if (refs.includes(value)) return void problems.push(`${place} must not lead to itself`);
  const target = targetOf(root, value);
  if (target === undefined) return void problems.push(`${place} leads to no schema`);
  inspect(target, { ...at, level: level + 1, refs: [...refs, value] });
}

function targetOf(root: JsonObject, ref: string): JsonValue | undefined {
  let found: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found as JsonValue | undefined;
}

/**
 * The schema with bounds on what its slow keywords see. Longer texts and lists are refused, before a pattern or a
 * comparison is tried.
 */
export function boundedSchema(schema: JsonValue): JsonValue {
  if (!isObject(schema)) return schema;
  const bounded: Record<string, JsonValue> = {};
  const guards: JsonValue[] = [];
  let longestText = Number.POSITIVE_INFINITY;
  for (const [name, value] of Object.entries(schema as JsonObject)) {
    if (name === 'pattern' || name === 'format') {
      const most = longest(name, value);
      longestText = Math.min(longestText, most);
      guards.push({ if: { minLength: most + 1 }, else: { [name]: value as JsonValue } });
    } else if (name === 'uniqueItems') {
      guards.push({ if: { minItems: MOST_UNIQUE_ITEMS + 1 }, else: { uniqueItems: value as JsonValue } });
    } else bounded[name] = boundedMember(name, value as JsonValue);
  }
  if (guards.length === 0) return bounded;
  if (longestText < Number.POSITIVE_INFINITY)
    bounded.maxLength = Math.min(longestText, numberOr(schema.maxLength, longestText));
  if ('uniqueItems' in schema)
    bounded.maxItems = Math.min(MOST_UNIQUE_ITEMS, numberOr(schema.maxItems, MOST_UNIQUE_ITEMS));
  const others = Array.isArray(bounded.allOf) ? (bounded.allOf as readonly JsonValue[]) : [];
  return { ...bounded, allOf: [...others, ...guards] };
}

function boundedMember(name: string, value: JsonValue): JsonValue {
  if (DATA.has(name)) return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(boundedSchema);
  if (MAPS.has(name) && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([key, one]) => [key, boundedSchema(one as JsonValue)]),
    );
  }
  return boundedSchema(value);
}

function longest(name: string, value: unknown): number {
  if (name === 'format') return LONGEST_FORMATTED;
  const cost = patternCost(String(value));
  return 'longest' in cost ? cost.longest : 0;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
