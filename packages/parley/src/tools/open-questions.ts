import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';
import { readAnswer } from './answer-reading.js';
import { approvalsIn, type ToolApproval } from './tool-approvals.js';
import { questionsIn, type WaitingQuestion } from './tool-questions.js';
import { untrustedFaults } from './untrusted-schema.js';

/** A question of a part of the toolkit, as the message of a status has it. */
export type OpenQuestion =
  | { readonly kind: 'approvals'; readonly approvals: readonly ToolApproval[] }
  | { readonly kind: 'tool'; readonly question: WaitingQuestion }
  | { readonly kind: 'interrupt'; readonly interrupt: AskedInterrupt };

/** The question of a graph, which a caller cannot decline, because a graph needs a value. */
interface AskedInterrupt {
  readonly interruptId: string;
  readonly value: JsonValue;
  /** JSON Schema of the answer. Absent: any value. */
  readonly responseSchema?: JsonObject;
}

/** The questions of a message, with all approvals as one. Empty if the message has only text. */
export function openQuestions(parts: readonly Part[]): readonly OpenQuestion[] {
  const approvals = approvalsIn(parts);
  return [
    ...(approvals.length > 0 ? [{ kind: 'approvals', approvals } as const] : []),
    ...questionsIn(parts).map((question) => ({ kind: 'tool', question }) as const),
    ...interruptsIn(parts).map((interrupt) => ({ kind: 'interrupt', interrupt }) as const),
  ];
}

/** The interrupts that a message asks about. */
export function interruptsIn(parts: readonly Part[]): readonly AskedInterrupt[] {
  return parts.flatMap((part) => {
    if (part.data === undefined || !isObject(part.data) || typeof part.data.interruptId !== 'string') return [];
    const { interruptId, value = null, responseSchema: schema } = part.data as JsonObject & { interruptId: string };
    const responseSchema = isObject(schema) && Object.keys(schema).length > 0 ? (schema as JsonObject) : undefined;
    return [{ interruptId, value, ...(responseSchema && { responseSchema }) }];
  });
}

/**
 * The data parts of a message that are only answers to a question. They have the exact form, and fit the schema of the
 * question. Answers to a question without a schema are not included.
 */
export function answeringParts(parts: readonly Part[], question: readonly Part[]): ReadonlySet<Part> {
  const questions = openQuestions(question);
  return new Set(
    parts.filter((part) => part.data !== undefined && questions.some((one) => isAnswer(part, one, questions))),
  );
}

function isAnswer(part: Part & { readonly data: JsonValue }, one: OpenQuestion, all: readonly OpenQuestion[]): boolean {
  const { data } = part;
  const isOnly = all.length === 1;
  switch (one.kind) {
    case 'approvals': {
      const decision = onlyMember(data, 'toolApproval', ['callId', 'decision', 'reason']);
      if (decision === undefined) return false;
      const { callId, decision: word, reason = '' } = decision;
      const isKnown = one.approvals.some((approval) => approval.callId === callId);
      return isKnown && (word === 'approve' || word === 'refuse') && typeof reason === 'string';
    }
    case 'tool': {
      const { callId, schema } = one.question;
      const named = onlyMember(data, 'toolAnswer', ['callId', 'action', 'content']);
      if (named === undefined) return isOnly && schema !== undefined && fits(part, schema);
      const { action = 'accept', content = {} } = named;
      if (named.callId !== callId || !isObject(content)) return false;
      if (action === 'decline' || action === 'cancel' || schema === undefined) return Object.keys(content).length === 0;
      return action === 'accept' && untrustedFaults(schema, content)?.length === 0;
    }
    case 'interrupt': {
      const { interruptId, responseSchema: schema } = one.interrupt;
      if (schema === undefined) return false;
      const keyed = onlyMember(data, interruptId);
      if (keyed !== undefined) return fits({ data: keyed }, schema);
      return (isOnly || part.metadata?.interruptId === interruptId) && fits(part, schema);
    }
  }
}

function fits(part: Part, schema: JsonObject): boolean {
  return readAnswer([part], { schema, canDecline: false }).kind === 'value';
}

/** The value of a member of an object. With `members`: only if the object has no others. */
function onlyMember(data: JsonValue, name: string): JsonValue | undefined;
function onlyMember(data: JsonValue, name: string, members: readonly string[]): JsonObject | undefined;
function onlyMember(data: JsonValue, name: string, members?: readonly string[]): JsonValue | undefined {
  if (!isObject(data) || Object.keys(data).length !== 1 || !Object.hasOwn(data, name)) return undefined;
  const value = (data as JsonObject)[name];
  if (members === undefined) return value;
  return isObject(value) && Object.keys(value).every((key) => members.includes(key))
    ? (value as JsonObject)
    : undefined;
}
