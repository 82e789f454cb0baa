import type { DataPart, Part } from 'parley-a2a';
import { followedUrl } from './markdown-inline.js';
import type { TaskView } from './task-view.js';

type Json = DataPart['data'];
type Members = Readonly<Record<string, unknown>>;

/** A call of a tool that runs only if the user approves it. */
export interface AskedCall {
  readonly kind: 'approval';
  readonly callId: string;
  readonly tool: string;
  /** The arguments that the tool runs with. */
  readonly input: unknown;
  readonly reason: string | undefined;
  readonly expiresAt: string | undefined;
}

/** A question whose answer has a JSON Schema. */
export interface AskedForm {
  readonly kind: 'form';
  /** Identifies the question among others. */
  readonly id: string;
  /** The tool that asks. Absent: an interrupt of a graph, which cannot be declined. */
  readonly tool: string | undefined;
  readonly message: string;
  readonly schema: Members;
}

/** A page on which the user authorizes the agent. */
export interface AskedAuthorization {
  readonly kind: 'authorization';
  readonly url: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | undefined;
}

/** A question that is more than text. */
export type Question = AskedCall | AskedForm | AskedAuthorization;

/** The questions of a waiting task, from the data of its last message. */
export function questionsOf({ state, message }: Pick<TaskView, 'state' | 'message'>): readonly Question[] {
  if (state !== 'TASK_STATE_INPUT_REQUIRED' && state !== 'TASK_STATE_AUTH_REQUIRED') return [];
  return (message?.parts ?? []).flatMap((part): readonly Question[] => {
    if (part.data === undefined || !isObject(part.data)) return [];
    const { toolApprovals: calls, toolQuestions: asked, interruptId, authorization } = part.data;
    if (Array.isArray(calls)) return calls.flatMap(askedCall);
    if (Array.isArray(asked)) return asked.flatMap(askedForm);
    if (typeof interruptId === 'string') return askedInterrupt(interruptId, part.data);
    return isObject(authorization) ? askedAuthorization(authorization) : [];
  });
}

/** True for data that the page shows as a question or a call. */
export function isQuestionData(part: Part): boolean {
  if (part.data === undefined || !isObject(part.data)) return false;
  const names = ['toolApprovals', 'toolQuestions', 'interruptId', 'authorization'];
  return names.some((name) => Object.hasOwn(part.data as object, name));
}

/** The answer to a waiting call. */
export function decisionPart({ callId }: AskedCall, decision: 'approve' | 'refuse'): Part {
  return { data: { toolApproval: { callId, decision } } };
}

/** The answer to a form. Without a value the form is declined. */
export function answerPart({ id, tool }: AskedForm, value: unknown): Part {
  if (tool === undefined) return { data: value as Json, metadata: { interruptId: id } };
  const answer = value === undefined ? { action: 'decline' } : { action: 'accept', content: value as Json };
  return { data: { toolAnswer: { callId: id, ...answer } } };
}

function askedCall(one: unknown): readonly AskedCall[] {
  if (!isObject(one)) return [];
  const { callId, tool, input, reason, expiresAt } = one;
  if (typeof callId !== 'string' || typeof tool !== 'string') return [];
  return [{ kind: 'approval', callId, tool, input, reason: textOf(reason), expiresAt: textOf(expiresAt) }];
}

function askedForm(one: unknown): readonly AskedForm[] {
  if (!isObject(one)) return [];
  const { callId, tool, message, schema } = one;
  if (typeof callId !== 'string' || typeof tool !== 'string' || typeof message !== 'string') return [];
  // A question without a schema has a yes or a no as its answer.
  return [{ kind: 'form', id: callId, tool, message, schema: isObject(schema) ? schema : { properties: {} } }];
}

function askedInterrupt(id: string, { value, responseSchema }: Members): readonly AskedForm[] {
  if (!isObject(responseSchema) || Object.keys(responseSchema).length === 0) return [];
  const message = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return [{ kind: 'form', id, tool: undefined, message, schema: responseSchema }];
}

function askedAuthorization({ url, scopes, expiresAt }: Members): readonly AskedAuthorization[] {
  const followed = typeof url === 'string' ? followedUrl(url) : undefined;
  if (followed === undefined) return [];
  const names = Array.isArray(scopes) ? scopes.filter((one) => typeof one === 'string') : [];
  return [{ kind: 'authorization', url: followed, scopes: names, expiresAt: textOf(expiresAt) }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
