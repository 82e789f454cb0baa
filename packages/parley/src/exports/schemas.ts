import type { HostExtension } from '../app/host-extension.js';
import { SchemasExtension } from '../app/schemas-extension.js';
import { OptionsError } from '../errors/options-error.js';
import type { AgentExtension } from '../model/agent-card.js';
import { checkOptions } from '../options/check-options.js';
import { optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import {
  type DataSchemas as CompiledSchemas,
  type ExtensionSchemas,
  METADATA_PLACES,
  type MetadataPlace,
} from '../schemas/agent-schemas.js';
import { type CompiledSchema, compiledSchema, type DataSchema } from '../schemas/compiled-schema.js';
import { systemClock } from './runtime.js';

export type { StandardSchema } from '../model/standard-schema.js';
export { type MetadataPlace, SCHEMAS_EXTENSION } from '../schemas/agent-schemas.js';
export type { DataSchema } from '../schemas/compiled-schema.js';

/** The schemas of data parts: of messages to the agent, and of its artifacts and messages. */
export interface DataSchemas {
  readonly input?: DataSchema;
  readonly output?: DataSchema;
}

/** An extension whose metadata have schemas. The card declares it. */
interface SchemaExtension extends Omit<AgentExtension, 'uri'> {
  /** The URI of the extension, under which its metadata stand. */
  readonly uri: string;
  readonly schemas: Readonly<Partial<Record<MetadataPlace, DataSchema>>>;
  /**
   * `refuse` (default): a message that does not fit is refused, and an answer fails its task. `strip`: the metadata of
   * the extension are left out.
   */
  readonly onMismatch?: 'refuse' | 'strip';
}

/** Options of `agentSchemas`. */
export interface AgentSchemasOptions extends DataSchemas {
  /** The path of the agent. Default: all agents of the server. */
  readonly agent?: string;
  /** By the ids of skills. */
  readonly skills?: Readonly<Record<string, DataSchemas>>;
  readonly extensions?: readonly SchemaExtension[];
  /** Time limit for async schemas, in ms; default 5,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const some = Type.Optional(Type.Unknown());
/** The names of the options. Their values are checked separately, with their places. */
const optionsSchema = optionObject({
  agent: some,
  input: some,
  output: some,
  skills: some,
  extensions: some,
  timeoutMs: some,
});

/**
 * Schemas for the data and the metadata of an agent, for the option `schemas` of a server. A schema is a JSON Schema
 * (draft 2020-12, or the draft that `$schema` names), or one of a library that follows Standard Schema.
 * @throws OptionsError naming every schema that is wrong itself, or that could take unbounded time.
 */
export function agentSchemas(options: AgentSchemasOptions): HostExtension {
  checkOptions({ subject: 'agentSchemas', schema: optionsSchema, options });
  const problems: string[] = [];
  const compile = (place: string, schema: DataSchema | undefined): CompiledSchema | undefined => {
    if (schema === undefined) return undefined;
    const found: string[] = [];
    const isSchema =
      typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null && !Array.isArray(schema));
    const made = isSchema ? compiledSchema(schema, found) : undefined;
    if (made === undefined) found.push('must be a schema');
    problems.push(...found.map((problem) => `${place}: ${problem}`));
    return made;
  };
  const both = (place: string, { input, output }: DataSchemas): CompiledSchemas => ({
    input: compile(`${place}input`, input),
    output: compile(`${place}output`, output),
  });
  const { skills = {}, extensions = [], timeoutMs = TIMEOUT_MS } = options;
  if (!(Number.isFinite(timeoutMs) && timeoutMs > 0)) problems.push('timeoutMs: must be a positive number of ms');
  const schemas = {
    ...both('', options),
    skills: new Map(Object.entries(skills).map(([id, own]) => [id, both(`skills.${id}.`, own)])),
    extensions: extensions.map(({ uri, schemas: places, onMismatch = 'refuse' }, index): ExtensionSchemas => {
      const place = `extensions[${index}]`;
      if (typeof uri !== 'string' || uri === '') problems.push(`${place}.uri: must not be empty`);
      if (onMismatch !== 'refuse' && onMismatch !== 'strip')
        problems.push(`${place}.onMismatch: must be one of refuse, strip`);
      const own = METADATA_PLACES.flatMap((name) => {
        const made = compile(`${place}.schemas.${name}`, places?.[name]);
        return made === undefined ? [] : [[name, made] as const];
      });
      return { uri, onMismatch, schemas: Object.fromEntries(own) };
    }),
  };
  if (problems.length > 0) throw new OptionsError('agentSchemas', problems);
  const declared = extensions.map(({ schemas: _, onMismatch: __, ...entry }) => entry);
  return new SchemasExtension({ path: options.agent, schemas, declared, clock: systemClock, timeoutMs });
}
