import type { Client } from 'parley-a2a/client';

type Answer = Awaited<ReturnType<Client['sendMessage']>>;
/** A task as the client gives it. */
export type Task = Extract<Answer, { readonly task: unknown }>['task'];
type Artifact = NonNullable<Task['artifacts']>[number];

/** The task of an answer. */
export function taskOf(answer: Answer): Task {
  if (answer.task === undefined) throw new Error(`no task: ${JSON.stringify(answer)}`);
  return answer.task;
}

/** All texts of a message or an artifact as one. */
export function textOf(said: Pick<Artifact, 'parts'> | undefined): string | undefined {
  return said?.parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
}

/** A message that goes on with a task. */
export function followUpParams({ id, contextId }: Task, text: string) {
  return { message: { taskId: id, ...(contextId !== undefined && { contextId }), parts: [{ text }] } };
}

/** A message that does not wait for its outcome. */
export function startParams(text: string) {
  return { message: { parts: [{ text }] }, configuration: { returnImmediately: true } };
}
