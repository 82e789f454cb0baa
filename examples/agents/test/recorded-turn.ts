import type { Message, Part, Task } from 'parley-a2a';
import type { AgentExecutor, EventQueue, RequestContext, StatusContent } from 'parley-a2a/server';
import type { AgentClock } from '../src/agent-clock.js';

/** Events that an agent published, in order. */
export type Published =
  | { readonly status: string; readonly says: string | undefined }
  | {
      readonly artifact: string | undefined;
      readonly parts: readonly Part[];
      readonly append: boolean;
      readonly lastChunk: boolean;
    }
  | { readonly message: string | undefined };

/** A clock that never waits and records its pauses. A pause that contains `abort` ends early. */
export class ScriptedClock implements AgentClock {
  readonly pauses: number[] = [];
  readonly #abortAtPause: number;

  constructor(abortAtPause = Number.POSITIVE_INFINITY) {
    this.#abortAtPause = abortAtPause;
  }

  now(): Date {
    return new Date('2026-01-02T03:04:05.678Z');
  }

  pause(ms: number, signal: AbortSignal): Promise<boolean> {
    this.pauses.push(ms);
    return Promise.resolve(!signal.aborted && this.pauses.length < this.#abortAtPause);
  }
}

/** Runs one turn of an agent with a recording queue. `task` makes it a follow-up. */
export async function runTurn(
  executor: AgentExecutor,
  { text, parts, messageId, task }: { text?: string; parts?: readonly Part[]; messageId?: string; task?: Task },
): Promise<Published[]> {
  const message: Message = {
    messageId: messageId ?? 'm1',
    contextId: 'c1',
    role: 'ROLE_USER',
    parts: parts ?? [{ text: text ?? '' }],
  };
  const published: Published[] = [];
  await executor.execute(contextOf(message, task), recordingQueue(published));
  return published;
}

function contextOf(message: Message, task: Task | undefined): RequestContext {
  return {
    message,
    text: message.parts.flatMap((part) => (part.text !== undefined ? [part.text] : [])).join('\n'),
    taskId: task?.id ?? 't1',
    contextId: 'c1',
    task,
    history: task?.history ?? [],
    conversation: () => Promise.resolve([]),
    referenceTasks: () => Promise.resolve([]),
    countTokens: () => Promise.resolve(),
    requestAuthorization: () => Promise.reject(new Error('No caller is asked here')),
    get files(): never {
      throw new Error('No files are kept here');
    },
    callAgent: () => {
      throw new Error('No agent is called here');
    },
    get clock(): never {
      throw new Error('Time stands still here');
    },
    user: undefined,
    tenant: '',
    extensions: [],
    acceptedOutputModes: [],
    metadata: undefined,
    signal: new AbortController().signal,
    attempt: 1,
    previousEvents: () => Promise.resolve([]),
    checkpoint: undefined,
    saveCheckpoint: () => Promise.resolve(),
  };
}

function recordingQueue(published: Published[]): EventQueue {
  const status = (state: string) => (content?: StatusContent) => {
    published.push({ status: state, says: content === undefined ? undefined : textOf(content) });
    return Promise.resolve();
  };
  return {
    working: status('WORKING'),
    inputRequired: status('INPUT_REQUIRED'),
    authRequired: status('AUTH_REQUIRED'),
    complete: status('COMPLETED'),
    fail: status('FAILED'),
    reject: status('REJECTED'),
    cancel: status('CANCELED'),
    artifact(content, info = {}) {
      const artifact = info.artifactId;
      published.push({ artifact, parts: partsOf(content), append: false, lastChunk: info.lastChunk ?? false });
      return Promise.resolve(artifact ?? 'generated');
    },
    append(artifact, content, info = {}) {
      published.push({ artifact, parts: partsOf(content), append: true, lastChunk: info.lastChunk ?? false });
      return Promise.resolve();
    },
    message(content) {
      published.push({ message: textOf(content) });
      return Promise.resolve();
    },
    publish: () => Promise.reject(new Error('the example agents publish no raw events')),
    flush: () => Promise.resolve(),
  };
}

function partsOf(content: string | Part | readonly Part[]): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }];
  return 'length' in content ? content : [content];
}

function textOf(content: StatusContent): string | undefined {
  if (typeof content === 'string') return content;
  const parts = 'length' in content ? content : (content.parts ?? []);
  return parts.map((part) => (part.text !== undefined ? part.text : '')).join('');
}
