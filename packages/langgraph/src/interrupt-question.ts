import type { JsonObject, JsonValue, Message, Part } from 'parley-a2a';
import {
  type AnswerReading,
  controlPart,
  formLines,
  interruptsIn,
  isObject,
  readAnswer,
  readText,
} from 'parley-a2a/kit';
import type { GraphInterrupt } from './runnable-graph.js';

/** An interrupt that waits for its answer. */
export type OpenInterrupt = GraphInterrupt & { readonly id: string };

/** The answers of a message to interrupts. */
export interface InterruptAnswers {
  /** By the ids of interrupts. */
  readonly values: Readonly<Record<string, JsonValue>>;
  /** The reason why an answer does not fit the schema of its interrupt. */
  readonly fault: string | undefined;
}

/**
 * The questions of interrupts, for INPUT_REQUIRED. Each has a text, and a data part `{ interruptId, value }` with the
 * `responseSchema` of the interrupt, if it has one. `note` is the reason for asking again, above the first text.
 */
export function questionParts(interrupts: readonly OpenInterrupt[], note?: string): readonly Part[] {
  return interrupts.flatMap(({ id, value, response_schema }, at): Part[] => {
    const json = jsonOf(value);
    const responseSchema = response_schema === undefined ? undefined : jsonOf(response_schema);
    const form = isObject(responseSchema) ? formLines({ schema: responseSchema, canDecline: false }) : [];
    const before = note === undefined || at > 0 ? [] : [note, ''];
    return [
      { text: [...before, typeof json === 'string' ? json : JSON.stringify(json), ...form].join('\n') },
      controlPart({ data: { interruptId: id, value: json, ...(responseSchema !== undefined && { responseSchema }) } }),
    ];
  });
}

const NOTHING: JsonObject = {};

/** The ids of the interrupts that a message asks about. */
export function askedIn(message: Message | undefined): readonly string[] {
  return message?.role === 'ROLE_AGENT' ? interruptsIn(message.parts).map(({ interruptId }) => interruptId) : [];
}

/**
 * The answers in a message, for some of the asked interrupts. A part names its interrupt by `metadata.interruptId`. An
 * object may have the answers by id. One question takes the whole message: its data, else its text, else its parts. An
 * interrupt with a schema is answered like a question of a tool, but cannot be declined: a graph needs a value.
 */
export function answersIn({ parts }: Message, asked: readonly OpenInterrupt[]): InterruptAnswers {
  const readings = new Map<string, AnswerReading>();
  for (const part of parts) {
    const { interruptId } = part.metadata ?? NOTHING;
    const interrupt = asked.find(({ id }) => id === interruptId);
    if (interrupt !== undefined) readings.set(interrupt.id, readingOf([part], interrupt));
  }
  if (readings.size > 0) return answersOf(readings);
  for (const part of parts) {
    if (part.data === undefined || !isObject(part.data)) continue;
    for (const interrupt of asked) {
      const value = Object.hasOwn(part.data, interrupt.id) ? part.data[interrupt.id] : undefined;
      if (value !== undefined) readings.set(interrupt.id, readingOf([{ data: value }], interrupt));
    }
  }
  const [only, ...more] = asked;
  if (readings.size === 0 && only !== undefined && more.length === 0) readings.set(only.id, readingOf(parts, only));
  return answersOf(readings);
}

function answersOf(readings: ReadonlyMap<string, AnswerReading>): InterruptAnswers {
  const values: Record<string, JsonValue> = {};
  let fault: string | undefined;
  for (const [id, reading] of readings) {
    if (reading.kind === 'value') values[id] = reading.value;
    if (reading.kind === 'unfit') fault ??= reading.fault;
  }
  return { values, fault };
}

function readingOf(parts: readonly Part[], { response_schema }: OpenInterrupt): AnswerReading {
  const schema = response_schema === undefined ? undefined : jsonOf(response_schema);
  if (!isObject(schema) || Object.keys(schema).length === 0) return { kind: 'value', value: wholeAnswer(parts) };
  const rules = { schema: schema as JsonObject, canDecline: false };
  const reading = readAnswer(parts, rules);
  const [part] = parts;
  // A client may send the words of a person as data.
  const isWord =
    reading.kind === 'unfit' && part !== undefined && part.data !== undefined && typeof part.data === 'string';
  return isWord ? readText(part.data, rules) : reading;
}

function wholeAnswer(parts: readonly Part[]): JsonValue {
  const data = parts.flatMap((part) => (part.data !== undefined ? [part.data as JsonValue] : []));
  if (data.length > 0) return data.length === 1 ? (data[0] as JsonValue) : data;
  const texts = parts.flatMap((part) => (part.text !== undefined ? [part.text] : []));
  if (texts.length > 0) return texts.join('\n');
  return (parts.length === 1 ? parts[0] : parts) as unknown as JsonValue;
}

/** The value of a graph as JSON. A value without a JSON form becomes a text. */
export function jsonOf(value: unknown): JsonValue {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue;
  } catch {
    return String(value);
  }
}
