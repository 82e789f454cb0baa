import type { Artifact, JsonObject, JsonValue, Message, Part } from 'parley-a2a';
import { canonicalJson, SIGNING_EXTENSION, sha256Hex } from 'parley-a2a/kit';
import { labelsOf } from './carried-labels.js';

/** The message ids that the engine may add. A signature lists those that were present. */
export const OPTIONAL_IDS = ['contextId', 'taskId'] as const;
export type OptionalId = (typeof OPTIONAL_IDS)[number];

/** The parts of an artifact as a number and a hash over all of them in order. */
export interface PartChain {
  readonly count: number;
  /** 64 hex digits; "" without parts. */
  readonly digest: string;
}

/** The task that an artifact or a status belongs to. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

const NO_PARTS: PartChain = { count: 0, digest: '' };

/** The signed text of a message: with the given optional ids, and without its signatures. */
export function messageText(message: Message, ids: readonly OptionalId[]): string {
  return canonicalJson(messageContent(message, ids));
}

function messageContent(message: Message, ids: readonly OptionalId[]): JsonObject {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds } = message;
  const own = OPTIONAL_IDS.filter((name) => ids.includes(name)).map((name) => [name, message[name] ?? '']);
  return {
    messageId,
    role,
    parts: parts.map(canonicalPart),
    ...Object.fromEntries(own),
    ...about({ metadata, extensions, referenceTaskIds }),
  };
}

/** The signed text of an artifact as it is after an update, with its parts as a chain. */
export function artifactText(
  artifact: Omit<Artifact, 'parts'>,
  chain: PartChain,
  { taskId, contextId }: TaskIds,
): string {
  const { artifactId, name, description, metadata, extensions } = artifact;
  return canonicalJson({
    taskId,
    contextId,
    artifact: { artifactId, parts: { ...chain }, ...about({ name, description, metadata, extensions }) },
  });
}

/** The signed text of a status. It has its message only if that has no signature of its own. */
export function statusText(state: string, { taskId, contextId }: TaskIds, message?: Message): string {
  const ids = OPTIONAL_IDS.filter((name) => message?.[name] !== undefined);
  return canonicalJson({ taskId, contextId, state, ...(message && { message: messageContent(message, ids) }) });
}

/** Extends the chain by parts. The result does not depend on how the parts are split into updates. */
export async function extendChain(chain: PartChain, parts: readonly Part[]): Promise<PartChain> {
  let { digest } = chain;
  for (const part of parts) digest = await sha256Hex(`${digest}${canonicalJson(canonicalPart(part))}`);
  return { count: chain.count + parts.length, digest };
}

/** The chain of all parts of an artifact. */
export function chainOf(parts: readonly Part[]): Promise<PartChain> {
  return extendChain(NO_PARTS, parts);
}

/** The hash of all artifacts of a task, in their order. */
export async function artifactsDigest(artifacts: readonly (readonly [string, PartChain])[]): Promise<string> {
  return sha256Hex(canonicalJson(artifacts.map(([id, { count, digest }]) => [id, count, digest])));
}

/** A part in the form of 1.0, without empty members. */
export function canonicalPart(part: Part): JsonObject {
  const { metadata, filename: _, mediaType: __, ...content } = part;
  return { ...(content as unknown as JsonObject), ...about({ metadata, ...labelsOf(part) }) };
}

/** Drops absent members. An empty text, list or object counts as absent, because protobuf cannot tell these apart. */
function about(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept = Object.entries(members).flatMap(([name, value]): [string, JsonValue][] => {
    const own = name === 'metadata' ? withoutSignatures(value as JsonObject | undefined) : value;
    return own === undefined || isEmpty(own) ? [] : [[name, own]];
  });
  return Object.fromEntries(kept);
}

/** Metadata without the signatures themselves. */
function withoutSignatures(metadata: JsonObject | undefined): JsonObject | undefined {
  if (metadata === undefined) return undefined;
  const { [SIGNING_EXTENSION]: _, ...rest } = metadata;
  return rest;
}

function isEmpty(value: JsonValue): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
