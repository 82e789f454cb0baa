import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import type { GraphInterrupt } from './runnable-graph.js';

type OpenInterrupt = GraphInterrupt & { readonly id: string };

/** The answers of a message, by the ids of interrupts. */
export type InterruptAnswers = Readonly<Record<string, JsonValue>>;

/**
 * The questions of interrupts, for INPUT_REQUIRED: for each a text, and a data part `{ interruptId, value }` with the
 * `responseSchema` of the interrupt, if it has one.
 */
export function questionParts(interrupts: readonly OpenInterrupt[], note?: string): readonly Part[] {
  const questions = interrupts.flatMap(({ id, value, response_schema }): Part[] => {
    const json = jsonOf(value);
    const responseSchema = response_schema === undefined ? undefined : jsonOf(response_schema);
    return [
      { text: typeof json === 'string' ? json : JSON.stringify(json) },
      { data: { interruptId: id, value: json, ...(responseSchema !== undefined && { responseSchema }) } },
    ];
  });
  return note === undefined ? questions : [{ text: note }, ...questions];
}

const NOTHING: JsonObject = {};

/** The ids of the interrupts that a message asks about. */
export function askedIn(message: Message | undefined): readonly string[] {
  if (message?.role !== 'ROLE_AGENT') return [];
  return message.parts.flatMap((part) => {
    const { interruptId: id } = 'data' in part && isObject(part.data) ? part.data : NOTHING;
    return typeof id === 'string' ? [id] : [];
  });
}

/**
 * The answers in a message, for some of the asked interrupts. A part names its interrupt by `metadata.interruptId`. An
 * object may have the answers by id. One question takes the whole message: its data, else its text, else its parts.
 */
export function answersIn({ parts }: Message, asked: readonly string[]): InterruptAnswers {
  const answers: Record<string, JsonValue> = {};
  for (const part of parts) {
    const { interruptId: id } = part.metadata ?? NOTHING;
    if (typeof id === 'string' && asked.includes(id)) answers[id] = answerOf(part);
  }
  if (Object.keys(answers).length > 0) return answers;
  for (const part of parts) {
    if (!('data' in part) || !isObject(part.data)) continue;
    for (const [id, value] of Object.entries(part.data)) if (asked.includes(id)) answers[id] = value;
  }
  const [only, ...more] = asked;
  if (Object.keys(answers).length > 0 || only === undefined || more.length > 0) return answers;
  return { [only]: wholeAnswer(parts) };
}

function wholeAnswer(parts: readonly Part[]): JsonValue {
  const data = parts.flatMap((part) => ('data' in part ? [part.data as JsonValue] : []));
  if (data.length > 0) return data.length === 1 ? (data[0] as JsonValue) : data;
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  return texts.length > 0 ? texts.join('\n') : (parts as unknown as JsonValue);
}

function answerOf(part: Part): JsonValue {
  if ('data' in part) return part.data as JsonValue;
  return 'text' in part ? part.text : (part as unknown as JsonValue);
}

/** The value of a graph as JSON. A value that JSON cannot say becomes a text. */
export function jsonOf(value: unknown): JsonValue {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue;
  } catch {
    return String(value);
  }
}
