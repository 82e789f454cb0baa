import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { Task } from '../model/task.js';
import type { ToolAnswer, ToolQuestion } from './tool.js';
import { escapedText, isNo, isYes } from './tool-approvals.js';
import { TOOLS_EXTENSION } from './tool-records.js';
import { untrustedFaults } from './untrusted-schema.js';

/** A question of a tool that waits for the owner of the task. */
export interface WaitingQuestion extends ToolQuestion {
  readonly callId: string;
  readonly tool: string;
  /** An ISO time. A later answer does not count. */
  readonly expiresAt: string;
}

/** An answer that the tool gets, or the reason why a message is none. */
export type ReadAnswer = { readonly answer: ToolAnswer } | { readonly fault: string };

const MOST_SHOWN = 10_000;
const MOST_FIELDS = 50;
const FIELD_LENGTH = 300;

/** The message with which an agent passes questions of tools on: a text for people, and data for programs. */
export function questionMessage(
  questions: readonly WaitingQuestion[],
  faults: ReadonlyMap<string, string>,
): Pick<Message, 'parts' | 'extensions'> {
  const texts = questions.map((question) => {
    const { callId, tool, message, schema } = question;
    const fault = faults.get(callId);
    const lines = [
      ...(fault === undefined ? [] : [`The answer does not fit: ${escapedText(fault, MOST_SHOWN)}`, '']),
      `${tool} asks${questions.length === 1 ? '' : ` (call ${callId})`}:`,
      '',
      escapedText(message, MOST_SHOWN, '\n'),
      ...fieldLines(schema),
    ];
    return lines.join('\n');
  });
  const data = { toolQuestions: questions.map((question) => ({ ...question })) };
  return { parts: [{ text: texts.join('\n\n') }, { data }], extensions: [TOOLS_EXTENSION] };
}

/** The questions of tools that a task waits for. Empty if the task does not wait for an answer. */
export function toolQuestions(task: Pick<Task, 'status'>): readonly WaitingQuestion[] {
  const { state, message } = task.status;
  if (state !== 'TASK_STATE_INPUT_REQUIRED') return [];
  return (message?.parts ?? []).flatMap((part) => {
    if (!('data' in part) || !isObject(part.data) || !Array.isArray(part.data.toolQuestions)) return [];
    return part.data.toolQuestions.filter(isQuestion);
  });
}

/**
 * The message that answers the question of a tool, for `client.sendMessage`. `callId`: which one, if several wait.
 * @throws RangeError if the task waits for no such question.
 */
export function answerQuestion(
  task: Pick<Task, 'id' | 'contextId' | 'status'>,
  answer: ToolAnswer,
  { callId }: { readonly callId?: string } = {},
): { readonly taskId: string; readonly contextId?: string; readonly parts: readonly Part[] } {
  const waiting = toolQuestions(task).filter((question) => callId === undefined || question.callId === callId);
  const [first] = waiting;
  if (first === undefined) throw new RangeError(`The task ${task.id} waits for no such question of a tool`);
  if (waiting.length > 1) throw new RangeError(`${waiting.length} questions wait. Name one of them by callId`);
  const { id, contextId } = task;
  const data = { toolAnswer: { callId: first.callId, ...answer } };
  return { taskId: id, ...(contextId !== undefined && { contextId }), parts: [{ data: data as JsonValue }] };
}

/**
 * The answers of a message to questions of tools, by the ids of their calls. Data names its call. If only one call
 * waits, the content alone is enough, or a text for a form with one field.
 */
export function answersIn(
  parts: readonly Part[],
  questions: ReadonlyMap<string, ToolQuestion>,
  mayBePlain: boolean,
): ReadonlyMap<string, ReadAnswer> {
  const found = new Map<string, ReadAnswer>();
  for (const part of parts) {
    const named = namedAnswer(part);
    const question = named && questions.get(named.callId);
    if (named && question) found.set(named.callId, checkedAnswer(question, named.action, named.content));
  }
  const [only] = questions;
  if (found.size > 0 || !mayBePlain || only === undefined) return found;
  const [callId, question] = only;
  return found.set(callId, plainAnswer(parts, question));
}

function plainAnswer(parts: readonly Part[], question: ToolQuestion): ReadAnswer {
  const data = parts.find((part) => 'data' in part);
  if (data && 'data' in data && isObject(data.data)) return checkedAnswer(question, 'accept', data.data as JsonObject);
  const text = parts
    .map((part) => ('text' in part ? part.text : ''))
    .join('\n')
    .trim();
  const fields = fieldsOf(question.schema);
  const [field] = fields;
  if (fields.length === 1 && field !== undefined) {
    const [name, schema] = field;
    return checkedAnswer(question, 'accept', { [name]: typedValue(schema, text) });
  }
  if (isNo(text)) return { answer: { action: 'decline' } };
  if (fields.length === 0 && isYes(text)) return { answer: { action: 'accept', content: {} } };
  const content = objectIn(text);
  if (content !== undefined) return checkedAnswer(question, 'accept', content);
  return { fault: fields.length === 0 ? 'answer yes or no' : 'answer with a JSON object of the fields, or with no' };
}

function checkedAnswer({ schema }: ToolQuestion, action: ToolAnswer['action'], content: JsonObject): ReadAnswer {
  if (action !== 'accept') return { answer: { action } };
  const faults = schema === undefined ? [] : (untrustedFaults(schema, content) ?? []);
  return faults.length > 0 ? { fault: faults.join('; ') } : { answer: { action, content } };
}

function namedAnswer(part: Part) {
  if (!('data' in part) || !isObject(part.data) || !isObject(part.data.toolAnswer)) return undefined;
  const { callId, action = 'accept', content = {} } = part.data.toolAnswer;
  if (typeof callId !== 'string' || !isObject(content)) return undefined;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') return undefined;
  return { callId, action, content: content as JsonObject } as const;
}

/** The fields of a form, by name. */
function fieldsOf(schema: JsonObject | undefined): readonly (readonly [string, JsonObject])[] {
  const properties = schema?.properties;
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, field]) => [name, isObject(field) ? (field as JsonObject) : {}]);
}

/** A text as the type of a field. A text that is none of that type stays a text, so that the check refuses it. */
function typedValue({ type }: JsonObject, text: string): JsonValue {
  if (type === 'boolean') {
    if (isYes(text) || text === 'true') return true;
    return isNo(text) || text === 'false' ? false : text;
  }
  if (type === 'number' || type === 'integer') {
    const number = text === '' ? Number.NaN : Number(text);
    return Number.isFinite(number) ? number : text;
  }
  if (type === 'array') return text.split(',').map((item) => item.trim());
  return text;
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function fieldLines(schema: JsonObject | undefined): readonly string[] {
  const fields = fieldsOf(schema);
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  if (fields.length === 0) return ['', 'Answer yes or no.'];
  const lines = fields.slice(0, MOST_FIELDS).map(([name, field]) => {
    const { type, title, description, enum: values } = field;
    const about = [title, description].filter((text) => typeof text === 'string').join(', ');
    const kinds = [
      ...(typeof type === 'string' ? [type] : []),
      ...(Array.isArray(values) ? [`one of ${values.join(', ')}`] : []),
      ...(required.includes(name) ? ['required'] : []),
    ];
    const line = `- ${name}${kinds.length > 0 ? ` (${kinds.join('; ')})` : ''}${about === '' ? '' : `: ${about}`}`;
    return escapedText(line, FIELD_LENGTH);
  });
  const more = fields.length > MOST_FIELDS ? [`- and ${fields.length - MOST_FIELDS} more`] : [];
  const how = fields.length === 1 ? 'Answer with the value.' : 'Answer with a JSON object of these fields, or with no.';
  return ['', ...lines, ...more, '', how];
}

function isQuestion(value: unknown): value is WaitingQuestion {
  return (
    isObject(value) &&
    typeof value.callId === 'string' &&
    typeof value.tool === 'string' &&
    typeof value.message === 'string' &&
    typeof value.expiresAt === 'string' &&
    (value.schema === undefined || isObject(value.schema))
  );
}
