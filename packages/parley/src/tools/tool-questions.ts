import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { Task } from '../model/task.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { controlPart } from '../server/own-part.js';
import {
  type AnswerRules,
  answerLines,
  choicesOf,
  fieldsOf,
  formFault,
  isNo,
  isYes,
  readAnswer,
  textOf,
} from './answer-reading.js';
import type { ToolAnswer, ToolQuestion } from './tool.js';
import { escapedText } from './tool-approvals.js';
import { TOOLS_EXTENSION } from './tool-records.js';
import { untrustedFaults } from './untrusted-schema.js';

/** A question of a tool that waits for the owner of the task. */
export interface WaitingQuestion extends ToolQuestion {
  readonly callId: string;
  readonly tool: string;
  /** An ISO time. A later answer does not count. */
  readonly expiresAt: string;
}

/** A valid answer for the tool, or the reason why a message is none. */
export type ReadAnswer = { readonly answer: ToolAnswer } | { readonly fault: string };

const MOST_SHOWN = 10_000;
const MOST_FIELDS = 50;
const FIELD_LENGTH = 300;

/** The message with which an agent asks the questions of its tools: a text for people, and data for programs. */
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
  return { parts: [{ text: texts.join('\n\n') }, controlPart({ data })], extensions: [TOOLS_EXTENSION] };
}

/** The questions of tools that a task waits for. Empty if the task does not wait for an answer. */
export function toolQuestions(task: Pick<Task, 'status'>): readonly WaitingQuestion[] {
  if (Object(task).status === undefined) refuseArgument('toolQuestions', 'a task, such as answer.task', task);
  const { state, message } = task.status;
  return state === 'TASK_STATE_INPUT_REQUIRED' ? questionsIn(message?.parts ?? []) : [];
}

/** The questions of tools that a message asks. */
export function questionsIn(parts: readonly Part[]): readonly WaitingQuestion[] {
  return parts.flatMap((part) => {
    if (part.data === undefined || !isObject(part.data) || !Array.isArray(part.data.toolQuestions)) return [];
    return part.data.toolQuestions.filter(isQuestion);
  });
}

/**
 * Makes the message that answers the question of a tool, for `client.sendMessage`. `callId`: which one, if several
 * wait.
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
 * The answers of a message to questions of tools, by the ids of their calls. A data part names its call. If only one
 * call waits, the content alone is enough, or a text for a form with one field.
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

/** Reads a message as the answer to the only question that waits. */
function plainAnswer(parts: readonly Part[], question: ToolQuestion): ReadAnswer {
  if (parts.some(isNamed)) return { fault: 'toolAnswer needs callId, action and content' };
  const { schema } = question;
  const isText = parts.every((part) => part.text !== undefined);
  if (schema === undefined || ((fieldsOf(schema) ?? []).length === 0 && isText)) {
    const text = isText ? textOf(parts) : '';
    if (isNo(text)) return { answer: { action: 'decline' } };
    return isYes(text) ? { answer: { action: 'accept', content: {} } } : { fault: 'answer yes or no' };
  }
  const reading = readAnswer(parts, { schema, canDecline: true });
  switch (reading.kind) {
    case 'declined':
      return { answer: { action: 'decline' } };
    case 'unfit':
      return { fault: reading.fault };
    case 'value':
      return isObject(reading.value)
        ? { answer: { action: 'accept', content: reading.value as JsonObject } }
        : { fault: formFault({ schema, canDecline: true }) };
  }
}

function checkedAnswer({ schema }: ToolQuestion, action: ToolAnswer['action'], content: JsonObject): ReadAnswer {
  if (action !== 'accept') return { answer: { action } };
  const faults = schema === undefined ? [] : (untrustedFaults(schema, content) ?? []);
  return faults.length > 0 ? { fault: faults.join('; ') } : { answer: { action, content } };
}

/** True for a part that names a call as its answer. */
function isNamed(part: Part): boolean {
  return part.data !== undefined && isObject(part.data) && ('toolAnswer' in part.data || 'toolApproval' in part.data);
}

function namedAnswer(part: Part) {
  if (part.data === undefined || !isObject(part.data) || !isObject(part.data.toolAnswer)) return undefined;
  const { callId, action = 'accept', content = {} } = part.data.toolAnswer;
  if (typeof callId !== 'string' || !isObject(content)) return undefined;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') return undefined;
  return { callId, action, content: content as JsonObject } as const;
}

function fieldLines(schema: JsonObject | undefined): readonly string[] {
  const lines = schema === undefined ? [] : formLines({ schema, canDecline: true });
  return lines.length === 0 ? ['', 'Answer yes or no.'] : lines;
}

/** The fields of a form, and how to answer it, for people. Empty if the schema is no form. */
export function formLines(rules: AnswerRules): readonly string[] {
  const { schema } = rules;
  const fields = fieldsOf(schema) ?? [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  if (fields.length === 0) return [];
  const lines = fields.slice(0, MOST_FIELDS).map(([name, field]) => {
    const { type, title, description } = field;
    const about = [title, description].filter((text) => typeof text === 'string').join(', ');
    const choices = choicesOf(field)?.map((choice) => choice.title);
    const kinds = [
      ...(typeof type === 'string' ? [type] : []),
      ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
      ...(required.includes(name) ? ['required'] : []),
    ];
    const line = `- ${name}${kinds.length > 0 ? ` (${kinds.join('; ')})` : ''}${about === '' ? '' : `: ${about}`}`;
    return escapedText(line, FIELD_LENGTH);
  });
  const more = fields.length > MOST_FIELDS ? [`- and ${fields.length - MOST_FIELDS} more`] : [];
  return ['', ...lines, ...more, '', ...answerLines(rules)];
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
