import { definitionOf, isFree, resolveSchema, type Schema } from '../vectors/model-schema.js';

/** A request in which one member has a value that its schema refuses. */
export interface WrongRequest {
  /** The path that the refusal has to name. */
  readonly field: string;
  readonly value: unknown;
  readonly request: Members;
}

/** The form of values: with their JSON types, or as texts of a query, in which a list is a repeated name. */
export type Form = 'json' | 'text';

type Members = Readonly<Record<string, unknown>>;

const ABSENT = Symbol('absent');

/** A valid request of a type with every member there is. */
export function fullRequest(type: string): Members {
  return sampleOf(definitionOf(type)) as Members;
}

/** For every member of a type, at every depth, every kind of value that it must not have. */
export function wrongRequests(type: string, form: Form): readonly WrongRequest[] {
  const found: WrongRequest[] = [];
  walkMembers(definitionOf(type), '', (value) => value as Members, { form, found });
  return found;
}

interface Walk {
  readonly form: Form;
  readonly found: WrongRequest[];
}

function walkMembers(schema: Schema, path: string, place: (value: unknown) => Members, walk: Walk): void {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const others = (schema.oneOf ?? []).some(({ required }) => required.includes(name))
      ? without(sampleOf(schema) as Members, alternativesOf(schema))
      : (sampleOf(schema) as Members);
    const placeValue = (value: unknown) =>
      place(value === ABSENT ? without(others, [name]) : { ...others, [name]: value });
    const field = path === '' ? name : `${path}.${name}`;
    if (schema.required?.includes(name) === true && walk.form === 'json') {
      for (const value of [ABSENT, null]) add(walk, { field, value, request: placeValue(value) });
      if (resolveSchema(member).minLength === 1) add(walk, { field, value: '', request: placeValue('') });
      const [zero] = resolveSchema(member).not === undefined ? [] : (resolveSchema(member).enum ?? []);
      if (zero !== undefined) for (const value of [zero, 0]) add(walk, { field, value, request: placeValue(value) });
    }
    walkValue(resolveSchema(member), field, placeValue, walk);
  }
}

function walkValue(schema: Schema, field: string, place: (value: unknown) => Members, walk: Walk): void {
  for (const value of walk.form === 'text' ? wrongTexts(schema) : wrongJson(schema)) {
    add(walk, { field, value, request: place(value) });
  }
  if (schema.items !== undefined)
    walkValue(resolveSchema(schema.items), `${field}[0]`, (value) => place([value]), walk);
  else if (schema.properties !== undefined) walkMembers(schema, field, place, walk);
}

function add({ found }: Walk, wrong: WrongRequest): void {
  found.push(wrong);
}

function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

function alternativesOf({ oneOf = [] }: Schema): readonly string[] {
  return oneOf.flatMap(({ required }) => required);
}

function wrongJson(schema: Schema): readonly unknown[] {
  if (schema.type === undefined && schema.enum === undefined) return [];
  if (schema.enum !== undefined) return ['NOPE', '__proto__', 99, -1, 1.5, true, [], {}];
  if (schema.format === 'base64') return [5, true, [], {}, '%', 'a', 'ab=c', 'ä'];
  if (schema.format === 'timestamp') return [5, true, [], {}, 'yesterday', '2026-02-30T00:00:00Z', '2026-01-01'];
  switch (schema.type) {
    case 'string':
      return [5, true, [], {}, ['x'], '\ud800', { toString: 'x' }];
    case 'integer': {
      const { minimum = 0, maximum = 0 } = schema;
      return ['x', '', '1.5', '1e3', '0x10', ' 1', 1.5, true, [], {}, [1], minimum - 1, maximum + 1, 1e300];
    }
    case 'boolean':
      return ['true', '', 0, 1, [], {}];
    case 'array':
      return ['x', 1, true, {}, { length: 1 }, ...(schema.minItems === 1 ? [[]] : [])];
    default:
      return ['x', 1, true, [], [{}]];
  }
}

function wrongTexts(schema: Schema): readonly unknown[] {
  const repeated = ['1', '2'];
  if (schema.enum !== undefined) return ['NOPE', '99', '-1', 'constructor', repeated];
  if (schema.format === 'timestamp') return ['yesterday', '2026-02-30T00:00:00Z', repeated];
  if (schema.type === 'integer') return ['x', '', '1.5', '1e3', '0x10', '3000000000', '-1', repeated];
  if (schema.type === 'boolean') return ['yes', '', '1', 'True', repeated];
  return [repeated];
}

function sampleOf(reference: Schema): unknown {
  const schema = resolveSchema(reference);
  if (schema.enum !== undefined) return schema.enum[1];
  if (schema.format === 'base64') return 'AAAA';
  if (schema.format === 'timestamp') return '2026-01-31T12:00:00Z';
  if (isFree(schema)) return { any: 'thing' };
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [sampleOf(schema.items ?? {})];
    default: {
      const [kept, ...others] = alternativesOf(schema);
      const entries = Object.entries(schema.properties ?? {}).filter(
        ([name]) => name === kept || !others.includes(name),
      );
      return Object.fromEntries(entries.map(([name, member]) => [name, sampleOf(member)]));
    }
  }
}
