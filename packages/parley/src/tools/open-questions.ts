import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';
import { approvalsIn, type ToolApproval } from './tool-approvals.js';
import { questionsIn, type WaitingQuestion } from './tool-questions.js';

/** A question of a part of the toolkit, as the message of a status has it. */
export type OpenQuestion =
  | { readonly kind: 'approvals'; readonly approvals: readonly ToolApproval[] }
  | { readonly kind: 'tool'; readonly question: WaitingQuestion }
  | { readonly kind: 'interrupt'; readonly interrupt: AskedInterrupt };

/** The question of a graph. A graph goes on with a value only, so that nobody can decline it. */
export interface AskedInterrupt {
  readonly interruptId: string;
  readonly value: JsonValue;
  /** JSON Schema of the answer. Absent: any value. */
  readonly responseSchema?: JsonObject;
}

/** The questions of a message, all approvals as one. Empty if only its text asks. */
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
    if (!('data' in part) || !isObject(part.data) || typeof part.data.interruptId !== 'string') return [];
    const { interruptId, value = null, responseSchema: schema } = part.data as JsonObject & { interruptId: string };
    const responseSchema = isObject(schema) && Object.keys(schema).length > 0 ? (schema as JsonObject) : undefined;
    return [{ interruptId, value, ...(responseSchema && { responseSchema }) }];
  });
}
