import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import { jsonSchemaProblems } from '../model/json-schema-problems.js';
import { LinearPattern, type PatternSteps } from './linear-pattern.js';
import { PatternRefusal } from './pattern-parser.js';
import { schemaCost } from './schema-graph.js';

const MOST_CHARACTERS = 65_536;
const MOST_LEVELS = 32;
const LONGEST_PATTERN = 512;
/** The maximum number of items under `uniqueItems`, which compares them pairwise. */
const MOST_UNIQUE_ITEMS = 10_000;
/** The maximum length of a text under `format`, in characters. */
const LONGEST_FORMATTED = 4_096;

/** Keywords without a bound on their time, or with schemas at other places. */
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
const MAPS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** The problems of a JSON Schema, or the branches of its recursion as `schemaCost` counts them. */
type SchemaRuling = { readonly problems: readonly string[] } | { readonly branches: number };

/**
 * Rules on a JSON Schema (draft 2020-12) for data from outside. A schema without problems has bounds, and takes a time
 * that grows at most with the length of the data. If it refers to itself with several branches, the data need a bound
 * of their own.
 */
export function schemaRuling(schema: JsonObject | boolean): SchemaRuling {
  let length: number;
  try {
    length = JSON.stringify(schema).length;
  } catch {
    return { problems: ['must be JSON'] };
  }
  if (length > MOST_CHARACTERS) return { problems: [`must have at most ${MOST_CHARACTERS} characters as JSON`] };
  const wrong = jsonSchemaProblems(schema);
  if (wrong.length > 0) return { problems: wrong };
  if (typeof schema === 'boolean') return { branches: 0 };
  const problems: string[] = [];
  const refs = new Map<string, string>();
  const seen = new Set<JsonValue>();
  inspect(schema, { place: '#', level: 0, refs, seen, problems });
  for (const [ref, place] of refs) {
    const target = targetOf(schema, ref);
    // Data beside the schemas, such as a default, have no limits on their form.
    if (target === undefined || !(seen.has(target) || typeof target === 'boolean'))
      problems.push(`${place} leads to no schema`);
  }
  if (problems.length > 0) return { problems: [...new Set(problems)] };
  const cost = schemaCost(schema, (ref) => targetOf(schema, ref));
  return 'problem' in cost ? { problems: [cost.problem] } : { branches: cost.branches };
}

interface Place {
  readonly place: string;
  readonly level: number;
  /** The references so far, and the first place of each. */
  readonly refs: Map<string, string>;
  /** The schemas so far. */
  readonly seen: Set<JsonValue>;
  readonly problems: string[];
}

function inspect(schema: JsonValue, at: Place): void {
  const { place, level, problems, refs, seen } = at;
  if (typeof schema === 'boolean' || problems.length > 0) return;
  if (!isObject(schema)) return void problems.push(`${place} must be a schema`);
  if (level > MOST_LEVELS) return void problems.push(`must have at most ${MOST_LEVELS} levels`);
  seen.add(schema as JsonObject);
  for (const [name, value] of Object.entries(schema as JsonObject)) {
    const inside = `${place}/${name}`;
    if (REFUSED.includes(name) || (name === '$id' && level > 0)) problems.push(`${inside} is not supported`);
    else if (name === 'pattern') inspectPattern(value, inside, problems);
    else if (name === '$ref') {
      if (typeof value !== 'string' || !/^#(?:\/|$)/.test(value)) problems.push(`${inside} must begin with #`);
      else if (!refs.has(value)) refs.set(value, inside);
    } else if (MAPS.has(name) && isObject(value)) {
      for (const [key, one] of Object.entries(value as JsonObject)) {
        inspectInner(one as JsonValue, { ...at, place: `${inside}/${key}`, level: level + 1 });
      }
    } else if (!DATA.has(name)) inspectInner(value as JsonValue, { ...at, place: inside, level: level + 1 });
  }
}

/** Inspects a schema, or a list of schemas. Other values of keywords need no check. */
function inspectInner(value: JsonValue, at: Place): void {
  if (Array.isArray(value)) {
    for (const one of value as readonly JsonValue[]) if (isObject(one)) inspect(one as JsonValue, at);
  } else if (isObject(value)) inspect(value as JsonValue, at);
}

function inspectPattern(value: unknown, place: string, problems: string[]): void {
  const pattern = String(value);
  if (pattern.length > LONGEST_PATTERN)
    return void problems.push(`${place} must have at most ${LONGEST_PATTERN} characters`);
  try {
    new LinearPattern(pattern);
  } catch (error) {
    problems.push(`${place} ${error instanceof PatternRefusal ? error.message : 'must be a regular expression'}`);
  }
}

function targetOf(root: JsonObject, ref: string): JsonValue | undefined {
  let found: unknown = root;
  for (const step of ref.split('/').slice(1)) {
    const name = decodeStep(step);
    const isParent = name !== undefined && typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    found = isParent ? (found as Record<string, unknown>)[name] : undefined;
  }
  return found as JsonValue | undefined;
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

/**
 * The schema with bounds on what its slow keywords see. Texts with a format and lists of different items are refused if
 * they are longer. Patterns are linear, and take `steps` for all texts of a value.
 */
export function boundedSchema(schema: JsonValue, steps: PatternSteps): JsonValue {
  if (!isObject(schema)) return schema;
  const bounded: [string, unknown][] = [];
  const guards: JsonValue[] = [];
  for (const [name, value] of Object.entries(schema as JsonObject) as [string, JsonValue][]) {
    if (name === 'pattern') bounded.push(['~refine', [patternCheck(String(value), steps)]]);
    else if (name === 'format') {
      bounded.push(['maxLength', Math.min(LONGEST_FORMATTED, numberOr(schema.maxLength, LONGEST_FORMATTED))]);
      guards.push({ if: { minLength: LONGEST_FORMATTED + 1 }, else: { format: value } });
    } else if (name === 'uniqueItems') {
      bounded.push(['maxItems', Math.min(MOST_UNIQUE_ITEMS, numberOr(schema.maxItems, MOST_UNIQUE_ITEMS))]);
      guards.push({ if: { minItems: MOST_UNIQUE_ITEMS + 1 }, else: { uniqueItems: value } });
    } else if (!bounded.some(([known]) => known === name)) bounded.push([name, boundedMember(name, value, steps)]);
  }
  if (guards.length === 0) return Object.fromEntries(bounded) as JsonObject;
  const others = bounded.find(([name]) => name === 'allOf')?.[1] as readonly JsonValue[] | undefined;
  return { ...Object.fromEntries(bounded), allOf: [...(others ?? []), ...guards] } as JsonObject;
}

/** A check of TypeBox in place of a pattern. */
function patternCheck(source: string, steps: PatternSteps) {
  const pattern = new LinearPattern(source);
  return {
    check: (value: unknown) => typeof value !== 'string' || pattern.test(value, steps),
    error: () => `must match pattern "${source}"`,
  };
}

function boundedMember(name: string, value: JsonValue, steps: PatternSteps): JsonValue {
  if (DATA.has(name)) return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((one) => boundedSchema(one, steps));
  if (MAPS.has(name) && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([key, one]) => [key, boundedSchema(one as JsonValue, steps)]),
    );
  }
  return boundedSchema(value, steps);
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
