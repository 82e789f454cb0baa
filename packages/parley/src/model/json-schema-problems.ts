import { Errors, Meta } from 'typebox/schema';
import { closestName } from './closest-name.js';
import { isObject } from './json.js';

const LATEST = 'https://json-schema.org/draft/2020-12/schema';
const DRAFTS: Readonly<Record<string, object>> = {
  [LATEST]: Meta[LATEST],
  'https://json-schema.org/draft/2019-09/schema': Meta['https://json-schema.org/draft/2019-09/schema'],
  'http://json-schema.org/draft-07/schema': Meta['http://json-schema.org/draft-07/schema#'],
};
const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const MOST_PROBLEMS = 10;
/** Keywords whose errors only repeat an error of a nested value or of an alternative. */
const CONSEQUENCES = new Set(['anyOf', 'oneOf', 'allOf', 'additionalProperties']);
/** The end of a JSON pointer to `type`, or to an item of its list. */
const AT_TYPE = /\/type(?:\/\d{1,9})?$/;

/**
 * The faults of a JSON Schema itself, such as `type: 'objekt'`, each with its JSON pointer. Its draft is the one that
 * `$schema` names, and 2020-12 by default.
 */
export function jsonSchemaProblems(schema: unknown): readonly string[] {
  const named = isObject(schema) ? schema.$schema : undefined;
  const draft = named === undefined ? LATEST : String(named).replace(/#$/, '');
  const meta = Object.hasOwn(DRAFTS, draft) ? DRAFTS[draft] : undefined;
  if (meta === undefined) return [`#/$schema must be one of ${Object.keys(DRAFTS).join(', ')}`];
  const [isRight, errors] = Errors(meta, schema);
  if (isRight) return [];
  const causes = errors.filter(({ keyword }) => !CONSEQUENCES.has(keyword));
  const first = new Map<string, string>();
  for (const { instancePath: path, message } of causes.length > 0 ? causes : errors) {
    const isParent = causes.some(({ instancePath }) => instancePath.startsWith(`${path}/`));
    if (!first.has(path) && !isParent) first.set(path, `#${path} ${typeFault(schema, path) ?? message}`);
  }
  return [...first.values()].slice(0, MOST_PROBLEMS);
}

function typeFault(schema: unknown, path: string): string | undefined {
  const parents = path.split('/').slice(0, -1);
  if (!AT_TYPE.test(path) || parents.at(-1) === 'properties') return undefined;
  const given = valueAt(schema, path);
  if (typeof given !== 'string' || TYPES.includes(given)) return undefined;
  const meant = TYPES.find((type) => given.length > 2 && type.startsWith(given)) ?? closestName(given, TYPES);
  return `must be a type of JSON${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

function valueAt(schema: unknown, path: string): unknown {
  return path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, step) => (value as Readonly<Record<string, unknown>> | undefined)?.[step], schema);
}
