import type { Client } from '../../../packages/parley/src/client/client.js';
import { A2AError } from '../../../packages/parley/src/errors/a2a-error.js';
import { isStreaming, type OperationName } from '../../../packages/parley/src/operations/operations.js';
import type { Cell } from './world.js';

/** The options of a call, as every method of a client takes them. */
export type Options = Parameters<Client['getTask']>[1];

/** The response of a call by the name of its operation, or the events of its stream. */
export async function callOperation(
  client: Client,
  operation: OperationName,
  request: object,
  options: Options = {},
): Promise<unknown> {
  const method = client[operation].bind(client) as (...call: unknown[]) => unknown;
  const answer = operation === 'getExtendedAgentCard' ? method(options) : method(request, options);
  return isStreaming(operation) ? eventsOf(answer as AsyncIterable<unknown>) : answer;
}

/** All events of a stream. */
export async function eventsOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The error of a call as its caller sees it; the result, if there is no error. */
export async function refusal(work: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await work };
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    const { name, code, message, details } = error;
    const { metadata, violations = [], retryAfterMs } = details;
    return {
      name,
      code,
      // Each binding says what it measures, and names its own option. Protobuf cannot tell an empty member from an
      // absent one, so descriptions of fields differ.
      message: code === 'PAYLOAD_TOO_LARGE' || violations.length > 0 ? undefined : message,
      metadata: code === 'PAYLOAD_TOO_LARGE' ? { hasLimit: metadata?.limit !== undefined } : (metadata ?? {}),
      violations: violations.map(({ field }) => field).sort(),
      isToBeRepeated: retryAfterMs !== undefined,
      challenges: 'challenges' in error ? error.challenges : undefined,
    };
  }
}

const ID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/;
/** Ids of artifacts of other agents, and names of other agents, are hashes. */
const HASH = /(?<=")call-[\w-]+(?=")|(?<="callee":")[\da-f]{16}(?=")/;
const NAMED = new RegExp(`${ID.source}|${HASH.source}`, 'g');

/** An outcome with each id and time replaced by the number of its first appearance, as plain JSON. */
export function normalizeOutcome(outcome: unknown, cell: Cell): unknown {
  const seen = new Map<string, string>();
  const text = JSON.stringify(outcome, inOrder)
    .replaceAll(cell.name, 'CELL')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(NAMED, (id) => {
      if (!seen.has(id)) seen.set(id, `id-${seen.size}`);
      return seen.get(id) as string;
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  return withoutDefaults(JSON.parse(text));
}

/** Members by their names: a wire may have them in another order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** An outcome without some members, at any depth. */
export function apartFrom(names: readonly string[], value: unknown): unknown {
  if (names.length === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => apartFrom(names, item));
  const members = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, apartFrom(names, member)]));
}

/** A value without the members that ProtoJSON omits (Spec §5.7). */
export function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutDefaults(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !isDefault(member)));
}

function isDefault(value: unknown): boolean {
  if (value === false || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
