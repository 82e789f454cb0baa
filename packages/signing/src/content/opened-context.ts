import type { Message, Task } from 'parley-a2a';
import type { ConversationEntry, RequestContext } from 'parley-a2a/server';
import { restoredArtifact, restoredMessage, restoredPart, restoredTask } from './carried-labels.js';
import type { PartOpener } from './part-encryption.js';

/**
 * The context of a turn with decrypted parts, for the agent only: the storage keeps encrypted ones. Parts for other
 * keys stay encrypted.
 */
export async function openedContext(context: RequestContext, opener: PartOpener): Promise<RequestContext> {
  const message = await opener.message(context.message);
  const history: Message[] = [];
  for (const one of context.history) history.push(await opener.message(one));
  const task = context.task && (await opener.task(context.task));
  return contextWith(context, {
    message,
    text: textOf(message),
    history,
    task,
    conversation: async (options) => {
      const entries: ConversationEntry[] = [];
      for (const entry of await context.conversation(options)) entries.push(await openedEntry(entry, opener));
      return entries;
    },
    referenceTasks: async () => {
      const tasks: Task[] = [];
      for (const one of await context.referenceTasks()) tasks.push(await opener.task(one));
      return tasks;
    },
  });
}

/** The context of a turn with restored labels in its earlier answers, which are read on demand. */
export function restoredContext(context: RequestContext): RequestContext {
  let task: Task | undefined;
  let history: readonly Message[] | undefined;
  return contextWith(context, {
    get task() {
      task ??= context.task && restoredTask(context.task);
      return task;
    },
    get history() {
      history ??= context.history.map(restoredMessage);
      return history;
    },
    conversation: async (options) => (await context.conversation(options)).map(restoredEntry),
    referenceTasks: async () => (await context.referenceTasks()).map(restoredTask),
  });
}

function restoredEntry(entry: ConversationEntry): ConversationEntry {
  const { message, artifact, parts } = entry;
  return {
    ...entry,
    parts: parts.map(restoredPart),
    ...(message && { message: restoredMessage(message) }),
    ...(artifact && { artifact: restoredArtifact(artifact) }),
  };
}

/** A proxy of the context with some other members. */
function contextWith(context: RequestContext, own: Partial<RequestContext>): RequestContext {
  return new Proxy(context, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof RequestContext];
      const value: unknown = Reflect.get(target, name, target);
      // The methods of the engine's context read its private members.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function openedEntry(entry: ConversationEntry, opener: PartOpener): Promise<ConversationEntry> {
  const { taskId } = entry;
  const message = entry.message && (await opener.message(entry.message));
  const artifact = entry.artifact && (await opener.artifact(entry.artifact, { taskId }));
  const parts = (message ?? artifact)?.parts ?? entry.parts;
  return { ...entry, parts, text: textOf({ parts }), ...(message && { message }), ...(artifact && { artifact }) };
}

function textOf({ parts }: Pick<Message, 'parts'>): string {
  return parts.flatMap((part) => (part.text !== undefined ? [part.text] : [])).join('\n');
}
