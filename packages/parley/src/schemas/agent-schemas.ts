import type { FieldViolation } from '../errors/a2a-error.js';
import type { Artifact } from '../model/artifact.js';
import { isObject, type JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import { isControlPart } from '../server/own-part.js';
import { type CompiledSchema, fieldAt } from './compiled-schema.js';
import type { SchemaAnswers } from './schema-answers.js';

/** The extension that publishes the schemas in the card. A message names a skill in its metadata. */
export const SCHEMAS_EXTENSION = 'urn:parley-a2a:extension:schemas:v1';

/** The schemas of data parts, in messages to an agent and in its answers. */
export interface DataSchemas {
  readonly input?: CompiledSchema | undefined;
  readonly output?: CompiledSchema | undefined;
}

/** The places of an extension's metadata. */
export const METADATA_PLACES = ['message', 'part', 'artifact', 'task', 'request'] as const;
export type MetadataPlace = (typeof METADATA_PLACES)[number];

/** The schemas of an extension for its metadata, under its URI. */
export interface ExtensionSchemas {
  readonly uri: string;
  readonly schemas: Readonly<Partial<Record<MetadataPlace, CompiledSchema>>>;
  /** `refuse`: the message or answer is refused. `strip`: the metadata of the extension is left out. */
  readonly onMismatch: 'refuse' | 'strip';
}

/** All schemas of an agent. */
export interface AgentSchemas extends DataSchemas {
  readonly skills: ReadonlyMap<string, DataSchemas>;
  readonly extensions: readonly ExtensionSchemas[];
}

/** The schemas of an agent during a check, with the collected answers of async schemas. */
export interface AnsweringSchemas extends AgentSchemas {
  readonly answers: SchemaAnswers;
}

/** A value without stripped metadata, and its violations. */
export interface Checked<Value> {
  readonly value: Value;
  readonly violations: readonly FieldViolation[];
}

/** The direction of a message, the path prefix of faults, and the parts whose data no schema describes. */
interface MessageCheck {
  readonly side: keyof DataSchemas;
  readonly field: string;
  readonly isExempt: (part: Part) => boolean;
}

/** Checks a message to the agent, or one of its own. */
export function checkedMessage<Given extends Partial<Message>>(
  message: Given,
  schemas: AnsweringSchemas,
  { side, field, isExempt }: MessageCheck,
): Checked<Given> {
  const skill = skillOf(message.metadata);
  if (skill !== undefined && !schemas.skills.has(skill)) {
    const named = fieldAt(field, ['metadata', SCHEMAS_EXTENSION, 'skill']);
    return { value: message, violations: [{ field: named, description: 'names no skill of this agent' }] };
  }
  const metadata = checkedMetadata(message.metadata, 'message', { schemas, field });
  const parts = checkedParts(message.parts, schemas, { data: dataSchemas(schemas, side, skill), field, isExempt });
  return {
    value: withMembers(message, { metadata: metadata.value, parts: parts.value }),
    violations: [...metadata.violations, ...parts.violations],
  };
}

/** Checks an artifact of the agent. */
export function checkedArtifact<Given extends Partial<Artifact>>(
  artifact: Given,
  schemas: AnsweringSchemas,
  field: string,
): Checked<Given> {
  const metadata = checkedMetadata(artifact.metadata, 'artifact', { schemas, field });
  const data = dataSchemas(schemas, 'output', undefined);
  const parts = checkedParts(artifact.parts, schemas, { data, field, isExempt: isControlPart });
  return {
    value: withMembers(artifact, { metadata: metadata.value, parts: parts.value }),
    violations: [...metadata.violations, ...parts.violations],
  };
}

/** Checks the metadata of extensions at a place. Metadata of other names stay as they are. */
export function checkedMetadata(
  metadata: JsonObject | undefined,
  place: MetadataPlace,
  { schemas, field }: { readonly schemas: AnsweringSchemas; readonly field: string },
): Checked<JsonObject | undefined> {
  if (!isObject(metadata)) return { value: metadata, violations: [] };
  let value: JsonObject = metadata;
  const violations: FieldViolation[] = [];
  for (const { uri, schemas: own, onMismatch } of schemas.extensions) {
    const schema = own[place];
    if (schema === undefined || !Object.hasOwn(metadata, uri)) continue;
    const faults = schemas.answers.faults(schema, metadata[uri]);
    if (faults.length === 0) continue;
    if (onMismatch === 'strip') {
      const { [uri]: _stripped, ...rest } = value;
      value = rest;
    } else {
      const at = fieldAt(field, ['metadata', uri]);
      violations.push(...faults.map(({ path, description }) => ({ field: fieldAt(at, path), description })));
    }
  }
  return { value, violations };
}

function checkedParts(
  parts: readonly Part[] | undefined,
  schemas: AnsweringSchemas,
  { data, field, isExempt }: Omit<MessageCheck, 'side'> & { readonly data: readonly CompiledSchema[] },
): Checked<readonly Part[] | undefined> {
  if (!Array.isArray(parts)) return { value: parts, violations: [] };
  const violations: FieldViolation[] = [];
  const value = (parts as readonly Part[]).map((part, index) => {
    if (!isObject(part)) return part;
    const at = fieldAt(field, ['parts', String(index)]);
    if (part.data !== undefined && !isExempt(part))
      violations.push(...dataViolations(part.data, { data, answers: schemas.answers, field: `${at}.data` }));
    const metadata = checkedMetadata(part.metadata, 'part', { schemas, field: at });
    violations.push(...metadata.violations);
    return withMembers(part, { metadata: metadata.value });
  });
  return { value, violations };
}

interface DataCheck {
  readonly data: readonly CompiledSchema[];
  readonly answers: SchemaAnswers;
  readonly field: string;
}

function dataViolations(value: unknown, { data, answers, field }: DataCheck): readonly FieldViolation[] {
  const faults = data.map((schema) => answers.faults(schema, value));
  const [first = []] = faults;
  if (faults.length === 0 || faults.some((found) => found.length === 0)) return [];
  if (faults.length > 1) return [{ field, description: 'fits the schema of no skill' }];
  return first.map(({ path, description }) => ({ field: fieldAt(field, path), description }));
}

/** The schema of the named skill or of the agent. Without both: those of all skills, of which one has to fit. */
function dataSchemas(
  schemas: AnsweringSchemas,
  side: keyof DataSchemas,
  skill: string | undefined,
): readonly CompiledSchema[] {
  const named = skill === undefined ? undefined : schemas.skills.get(skill)?.[side];
  const chosen = named ?? schemas[side];
  if (chosen !== undefined) return [chosen];
  return skill === undefined ? [...schemas.skills.values()].flatMap((one) => one[side] ?? []) : [];
}

/** The member of the metadata under the URI that marks a question of the toolkit. Agents and callers cannot set it. */
const QUESTION = 'question';

/** True for the question of a part of the toolkit. */
export function isMarkedQuestion({ role, metadata }: Pick<Message, 'role' | 'metadata'>): boolean {
  const own = isObject(metadata) ? metadata[SCHEMAS_EXTENSION] : undefined;
  return role === 'ROLE_AGENT' && isObject(own) && own[QUESTION] === true;
}

/** A message of the agent with the mark exactly if a part of the toolkit asks in it. */
export function markedQuestion<Given extends Partial<Message>>(message: Given, isQuestion: boolean): Given {
  const { metadata } = message;
  const own = isObject(metadata) ? metadata[SCHEMAS_EXTENSION] : undefined;
  const known = isObject(own) ? (own as JsonObject) : undefined;
  if (!isQuestion && (known === undefined || !Object.hasOwn(known, QUESTION))) return message;
  const { [QUESTION]: _, ...others } = known ?? {};
  const entry = isQuestion ? { ...others, [QUESTION]: true } : others;
  return { ...message, metadata: { ...metadata, [SCHEMAS_EXTENSION]: entry } };
}

function skillOf(metadata: JsonObject | undefined): string | undefined {
  const named = isObject(metadata) ? metadata[SCHEMAS_EXTENSION] : undefined;
  return isObject(named) && typeof named.skill === 'string' ? named.skill : undefined;
}

/** The value with these members, if they differ. Absent ones stay absent. */
function withMembers<Value extends object>(value: Value, members: Readonly<Record<string, unknown>>): Value {
  const changed = Object.entries(members).filter(
    ([name, member]) => member !== undefined && member !== value[name as keyof Value],
  );
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}
