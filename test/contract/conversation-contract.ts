import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import type { ConversationEntry } from '../../packages/parley/src/server/conversation.js';
import { DefaultRequestHandler } from '../../packages/parley/src/server/default-request-handler.js';
import type { EventQueue } from '../../packages/parley/src/server/event-queue.js';
import type { RequestContext } from '../../packages/parley/src/server/request-context.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { CapturingLogger, call, message } from '../../packages/parley/test/engine.js';
import type { OpenStorage } from './storage/tested-storage.js';

const CONTEXT = 'of-everyone';
const ROUNDS = ['one', 'two', 'three'] as const;

interface Caller {
  readonly agent: 'a' | 'b';
  readonly tenant?: string;
  readonly user?: string;
}

/** Callers that differ in one property, or have similar names. */
const CALLERS: readonly Caller[] = [
  { agent: 'a' },
  { agent: 'b' },
  { agent: 'a', user: 'ann' },
  { agent: 'b', user: 'ann' },
  { agent: 'a', user: 'bob' },
  { agent: 'a', user: 'Ann' },
  { agent: 'a', tenant: 'ann' },
  { agent: 'a', tenant: 'blue', user: 'ann' },
  { agent: 'a', tenant: 'red', user: 'ann' },
  { agent: 'a', tenant: 'ann', user: 'blue' },
];

const nameOf = ({ agent, tenant = '-', user = '-' }: Caller) => `${agent} ${tenant} ${user}`;

/** The contract that an agent reads only the conversation of its caller, on any storage. */
export function conversationContract(name: string, open: OpenStorage): void {
  describe(`the conversation of a context on ${name} storage`, () => {
    let storage: TaskStorage;
    beforeEach(async () => {
      storage = await open(systemClock);
    });
    afterEach(() => storage.close());

    /** An agent that records the conversation that it reads. It answers with an artifact and a message. */
    const listener = (agent: string) => {
      const read: { entries: readonly ConversationEntry[]; references: readonly Task[] } = {
        entries: [],
        references: [],
      };
      const executor = {
        async execute(context: RequestContext, events: EventQueue) {
          read.entries = await context.conversation();
          read.references = await context.referenceTasks();
          await events.artifact(`made of ${context.text}`);
          await events.complete(`done ${context.text}`);
        },
      };
      const logger = new CapturingLogger();
      const handler = new DefaultRequestHandler({
        agent,
        executor,
        storage,
        clock: systemClock,
        ids: systemIds,
        logger,
      });
      return { handler, read };
    };

    it('has nothing of another agent, tenant or user with the same context', async () => {
      const agents = { a: listener('a'), b: listener('b') };
      const tasks: { readonly of: Caller; readonly id: string }[] = [];
      for (const [round, text] of ROUNDS.entries()) {
        for (const caller of CALLERS) {
          const { handler, read } = agents[caller.agent];
          const { tenant, user } = caller;
          const words = (word: string) => `${nameOf(caller)} ${word}`;
          const sent = await handler.sendMessage(
            {
              message: message({
                messageId: `${text} of ${nameOf(caller)}`,
                contextId: CONTEXT,
                parts: [{ text: words(text) }],
                referenceTaskIds: tasks.map(({ id }) => id),
              }),
              ...(tenant !== undefined && { tenant }),
            },
            call(user === undefined ? {} : { user: { id: user } }),
          );
          const earlier = ROUNDS.slice(0, round).flatMap((word) => [
            `user: ${words(word)}`,
            `agent: made of ${words(word)}`,
            `agent: done ${words(word)}`,
          ]);
          expect(read.entries.map((entry) => `${entry.role}: ${entry.text}`)).toEqual([
            ...earlier,
            `user: ${words(text)}`,
          ]);
          const own = tasks.filter(({ of }) => of === caller).map(({ id }) => id);
          expect(read.references.map(({ id }) => id)).toEqual(own);
          if (sent.task === undefined) throw new Error('no task');
          tasks.push({ of: caller, id: sent.task.id });
        }
      }
      await Promise.all(Object.values(agents).map(({ handler }) => handler.close()));
    });
  });
}
