import { Compile } from 'typebox/schema';
import type { JsonObject } from '../model/json.js';
import { jsonSchemaOf, type StandardResult, type StandardSchema } from '../model/standard-schema.js';
import { boundedSchema, schemaRuling } from './json-schema-rules.js';
import type { PatternSteps } from './linear-pattern.js';

/** A JSON Schema (draft 2020-12), or a schema of a library that follows Standard Schema. `true` takes all values. */
export type DataSchema = JsonObject | boolean | StandardSchema;

/** A fault of a value, at the path of its member. */
export interface DataFault {
  readonly path: readonly string[];
  readonly description: string;
}

/** A schema that is ready for use. */
export interface CompiledSchema {
  /** The first faults of a value, at most 8. Empty if it fits. A promise if the schema is async. */
  readonly faults: (value: unknown) => readonly DataFault[] | Promise<readonly DataFault[]>;
  /** The schema for other agents. Undefined if its library cannot describe it. */
  readonly published: JsonObject | boolean | undefined;
}

/** TypeBox reports at most this number. */
const MOST_FAULTS = 8;
const MOST_CHARACTERS = 200;
/** The budget of pattern steps of a schema for one value: about 0.1 s. */
const PATTERN_STEPS = 4_000_000;

/** Compiles a schema for untrusted data. Problems of a JSON Schema are appended to `problems`. */
export function compiledSchema(schema: DataSchema, problems: string[]): CompiledSchema {
  if (typeof schema === 'object' && '~standard' in schema) return standardSchema(schema as StandardSchema);
  const ruling = schemaRuling(schema);
  if ('problems' in ruling) {
    problems.push(...ruling.problems);
    return { faults: () => [], published: undefined };
  }
  try {
    const steps: PatternSteps = { left: PATTERN_STEPS };
    const validator = Compile(boundedSchema(schema, steps) as JsonObject | boolean);
    return {
      faults: (value) => {
        const exceeded = exceededBound(value, ruling.branches);
        if (exceeded !== undefined) return [faultAt([], exceeded)];
        steps.left = PATTERN_STEPS;
        const fits = validator.Check(value);
        if (steps.left < 0) return [faultAt([], 'has too many characters for the patterns of its schema')];
        if (fits) return [];
        steps.left = PATTERN_STEPS;
        const [, errors] = validator.Errors(value);
        const faults = errors.map(({ instancePath, message }) => faultAt(pathOf(instancePath), message));
        return faults.length === 0 ? [faultAt([], 'does not fit the schema')] : faults.slice(0, MOST_FAULTS);
      },
      published: schema,
    };
  } catch {
    problems.push('is no JSON Schema');
    return { faults: () => [], published: undefined };
  }
}

function standardSchema(schema: StandardSchema): CompiledSchema {
  return {
    faults: (value) => {
      const result = schema['~standard'].validate(value);
      return result instanceof Promise ? result.then(faultsOf) : faultsOf(result);
    },
    published: jsonSchemaOf(schema),
  };
}

function faultsOf({ issues = [] }: StandardResult<unknown>): readonly DataFault[] {
  return issues.slice(0, MOST_FAULTS).map(({ path = [], message }) =>
    faultAt(
      path.map((step) => String(typeof step === 'object' ? step.key : step)),
      message,
    ),
  );
}

function faultAt(path: readonly string[], message: string): DataFault {
  return { path, description: message.slice(0, MOST_CHARACTERS) };
}

function pathOf(instancePath: string): readonly string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const PLAIN_NAME = /^[A-Za-z_$][\w$-]{0,63}$/;

/** The field of a member below another field, such as `message.parts[0].data.items[2]`. An empty field is the whole. */
export function fieldAt(field: string, path: readonly string[]): string {
  return path.reduce((before, step) => {
    if (/^\d{1,9}$/.test(step)) return `${before}[${step}]`;
    if (before === '') return step;
    return PLAIN_NAME.test(step) ? `${before}.${step}` : `${before}[${JSON.stringify(step.slice(0, 128))}]`;
  }, field);
}

/** Levels of data for a schema that refers to itself. */
const MOST_LEVELS = 100;
/** Maximum number of checks of one value by a schema that refers to itself in several branches. */
const MOST_STEPS = 1_000_000;

/**
 * The bound that a value exceeds for a schema that refers to itself. `branches` multiply the work with each level of
 * the value, so that a deep value must be small. Undefined: the value can be checked.
 */
function exceededBound(value: unknown, branches: number): string | undefined {
  if (branches === 0) return undefined;
  const { levels, count } = measure(value, 1);
  if (levels > MOST_LEVELS) return `must have at most ${MOST_LEVELS} levels`;
  return count * branches ** (levels - 1) > MOST_STEPS
    ? 'has too many levels and members for a schema of this kind'
    : undefined;
}

/** The levels of a value, and the number of its parts. Stops at the maximum. */
function measure(value: unknown, level: number): { readonly levels: number; readonly count: number } {
  if (typeof value !== 'object' || value === null) return { levels: level, count: 1 };
  let levels = level;
  let count = 1;
  if (level > MOST_LEVELS) return { levels, count };
  for (const one of Object.values(value)) {
    const inner = measure(one, level + 1);
    levels = Math.max(levels, inner.levels);
    count += inner.count;
  }
  return { levels, count };
}
