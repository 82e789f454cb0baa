import type { ElicitRequestFormParams } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject, JsonValue, Part, SendMessageResponse } from 'parley-a2a';
import type { OutgoingMessage } from 'parley-a2a/client';
import { choicesOf, fieldsOf, fieldValue, type OpenQuestion, openQuestions } from 'parley-a2a/kit';
import type { ToolApproval } from 'parley-a2a/tools';
import { oneLine } from './bounded-text.js';

type RequestedSchema = ElicitRequestFormParams['requestedSchema'];
type Property = RequestedSchema['properties'][string];

/** A form for the user of an MCP client. */
export interface QuestionForm {
  readonly text: string;
  readonly requestedSchema: RequestedSchema;
  /** Converts the result of the form to the answer for the agent. Empty if the question stays open. */
  readonly answer: (result: FormResult) => readonly Part[];
}

/** The result of a form; undefined for a dismissed one. */
export type FormResult =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' };

/** The forms of a task that waits for input, and the task for their answers. */
interface TaskForms {
  readonly forms: readonly QuestionForm[];
  readonly reply: (parts: readonly Part[]) => OutgoingMessage;
}

/** Maximum number of fields. A larger form becomes one field for JSON. */
const MOST_FIELDS = 50;
const MOST_CHOICES = 200;
const MOST_CALLS = 50;
const TITLE = 200;
const DESCRIPTION = 1_000;
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];
const ANSWER = 'answer';

/** The forms of an answer; undefined if its task does not wait for input. */
export function formsOf(answer: SendMessageResponse): TaskForms | undefined {
  if (answer.task === undefined || answer.task.status.state !== 'TASK_STATE_INPUT_REQUIRED') return undefined;
  const { id: taskId, contextId, status } = answer.task;
  const parts = status.message?.parts ?? [];
  const texts = parts.map((part) => ('text' in part ? part.text : '')).filter((text) => text !== '');
  const text = texts.length === 0 ? 'The agent needs input.' : texts.join('\n');
  const questions = openQuestions(parts);
  const [only, ...more] = questions.length === 0 ? [plainForm(text)] : questions.map(formOf);
  return {
    // The text of the message contains the reason why an earlier answer did not fit.
    forms: more.length === 0 && only !== undefined ? [{ ...only, text }] : questions.map(formOf),
    reply: (answers) => ({ parts: answers, taskId, ...(contextId !== undefined && { contextId }) }),
  };
}

function plainForm(text: string): QuestionForm {
  return {
    text,
    requestedSchema: formSchema({ [ANSWER]: { type: 'string', title: 'Answer', maxLength: 100_000 } }),
    answer: (result) => {
      const said = result.action === 'accept' ? result.content[ANSWER] : undefined;
      return typeof said === 'string' && said !== '' ? [{ text: said }] : [];
    },
  };
}

function formOf(question: OpenQuestion): QuestionForm {
  switch (question.kind) {
    case 'approvals':
      return approvalForm(question.approvals.slice(0, MOST_CALLS));
    case 'tool': {
      const { callId, tool, message, schema } = question.question;
      const answerPart = (answer: object): Part[] => [{ data: { toolAnswer: { callId, ...answer } } as JsonValue }];
      const text = `${tool} asks:\n\n${message}`;
      if (schema === undefined || fieldsOf(schema)?.length === 0) {
        return {
          text,
          requestedSchema: formSchema({ [ANSWER]: { type: 'boolean', title: 'Answer' } }),
          answer: (result) => {
            const isYes = result.action === 'accept' && result.content[ANSWER] === true;
            return answerPart(isYes ? { action: 'accept', content: {} } : { action: 'decline' });
          },
        };
      }
      return {
        text,
        requestedSchema: schemaOf(schema),
        answer: (result) =>
          answerPart(
            result.action === 'accept'
              ? { action: 'accept', content: formValue(schema, result.content) }
              : { action: 'decline' },
          ),
      };
    }
    case 'interrupt': {
      const { interruptId, value, responseSchema } = question.interrupt;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const named = { metadata: { interruptId } };
      if (responseSchema === undefined) {
        const plain = plainForm(text);
        return { ...plain, answer: (result) => plain.answer(result).map((part) => ({ ...part, ...named })) };
      }
      return {
        text,
        requestedSchema: schemaOf(responseSchema),
        answer: (result) =>
          result.action === 'accept' ? [{ data: formValue(responseSchema, result.content), ...named }] : [],
      };
    }
  }
}

/** One choice for each call. A decline refuses all of them. */
function approvalForm(approvals: readonly ToolApproval[]): QuestionForm {
  const [only] = approvals;
  const nameOf = ({ callId }: ToolApproval) => (approvals.length === 1 && only !== undefined ? 'decision' : callId);
  const fields = approvals.map((approval): [string, Property] => {
    const title = oneLine(`${approval.tool} ${JSON.stringify(approval.input)}`, TITLE);
    return [nameOf(approval), { type: 'string', title, enum: ['approve', 'refuse'] }];
  });
  return {
    text: 'These calls need your approval.',
    requestedSchema: formSchema(Object.fromEntries(fields)),
    answer: (result) =>
      approvals.map((approval): Part => {
        const isApproved = result.action === 'accept' && result.content[nameOf(approval)] === 'approve';
        const toolApproval = { callId: approval.callId, decision: isApproved ? 'approve' : 'refuse' };
        return { data: { toolApproval } };
      }),
  };
}

function formSchema(
  properties: RequestedSchema['properties'],
  required: readonly string[] = Object.keys(properties),
): RequestedSchema {
  return { type: 'object', properties, required: [...required] };
}

/** The form of a schema: its fields, or one field for the whole value. */
function schemaOf(schema: JsonObject): RequestedSchema {
  const fields = formFields(schema);
  if (fields === undefined) return formSchema({ [ANSWER]: propertyOf(schema) });
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, propertyOf(field)]));
  return formSchema(
    properties,
    required.filter((name) => Object.hasOwn(properties, name)),
  );
}

function formFields(schema: JsonObject): ReturnType<typeof fieldsOf> {
  const fields = fieldsOf(schema);
  return fields !== undefined && fields.length > 0 && fields.length <= MOST_FIELDS ? fields : undefined;
}

/** Makes a field in the subset of JSON Schema that MCP forms allow. Other fields become texts: lists, and JSON. */
function propertyOf(field: JsonObject): Property {
  const { type, format } = field;
  const about = { ...textOf(field, 'title', TITLE), ...textOf(field, 'description', DESCRIPTION) };
  const choices = choicesOf(field);
  if (choices !== undefined && choices.length <= MOST_CHOICES) {
    const words = choices.map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)));
    return { type: 'string', ...about, enum: words, enumNames: choices.map(({ title }) => oneLine(title, TITLE)) };
  }
  switch (type) {
    case 'boolean':
      return { type, ...about };
    case 'number':
    case 'integer':
      return { type, ...about, ...numbersOf(field, ['minimum', 'maximum']) };
    case 'string': {
      const known = FORMATS.includes(format) ? { format: format as 'date' } : {};
      return { type, ...about, ...numbersOf(field, ['minLength', 'maxLength']), ...known };
    }
    default: {
      const how = type === 'array' ? 'A list with commas, or JSON.' : 'JSON.';
      const description = about.description === undefined ? how : `${about.description} ${how}`;
      return { type: 'string', ...about, description };
    }
  }
}

function textOf<Name extends 'title' | 'description'>(field: JsonObject, name: Name, length: number) {
  const text = field[name];
  const shown: { readonly [Key in Name]?: string } = {};
  return typeof text === 'string' ? { ...shown, [name]: oneLine(text, length) } : shown;
}

function numbersOf(field: JsonObject, names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof field[name] === 'number' ? [[name, field[name] as number] as const] : [])),
  );
}

/** The value of a form. Texts are read like answers of a person. */
function formValue(schema: JsonObject, content: Readonly<Record<string, unknown>>): JsonValue {
  const fields = formFields(schema);
  if (fields === undefined) return readField(schema, content[ANSWER]);
  const given = fields.filter(([name]) => Object.hasOwn(content, name));
  return Object.fromEntries(given.map(([name, field]) => [name, readField(field, content[name])]));
}

function readField(field: JsonObject, value: unknown): JsonValue {
  return typeof value === 'string' ? fieldValue(field, value) : (value as JsonValue);
}
