import { describe, expect, it, vi } from 'vitest';
import { FileKeeper } from '../../packages/parley/src/app/files/file-keeper.js';
import { TurnFileAccess } from '../../packages/parley/src/app/files/turn-file-access.js';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import type { FileStore } from '../../packages/parley/src/files/file-store.js';
import { MemoryFileStore } from '../../packages/parley/src/files/memory/memory-file-store.js';
import { turnCourse } from '../../packages/parley/src/server/execution/turn-course.js';
import type { RequestContext } from '../../packages/parley/src/server/request-context.js';
import type { TurnPorts } from '../../packages/parley/src/server/turn-ports.js';
import { interceptedStorage } from '../../packages/parley/src/store/intercepted-storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { call, engine, message } from '../../packages/parley/test/engine.js';
import type { OpenStorage } from './storage/tested-storage.js';

/** A use of a member of the context. Returns what the agent reads from it. */
interface Use {
  readonly use: (context: RequestContext) => Promise<unknown>;
  /** Runs in the earlier attempt, without an outage. */
  readonly before?: (context: RequestContext) => Promise<unknown>;
  readonly sees: unknown;
}
const SCOPE = { agent: 'test', tenant: '', owner: null };
const NOTHING_STORED = 'touches no storage';

/** Every member of the context of a turn. A new member without a row does not compile. */
const MEMBERS: Readonly<Record<keyof RequestContext, Use | typeof NOTHING_STORED>> = {
  message: NOTHING_STORED,
  text: NOTHING_STORED,
  traceparent: NOTHING_STORED,
  taskId: NOTHING_STORED,
  contextId: NOTHING_STORED,
  task: NOTHING_STORED,
  history: NOTHING_STORED,
  user: NOTHING_STORED,
  tenant: NOTHING_STORED,
  extensions: NOTHING_STORED,
  acceptedOutputModes: NOTHING_STORED,
  metadata: NOTHING_STORED,
  signal: NOTHING_STORED,
  clock: NOTHING_STORED,
  attempt: NOTHING_STORED,
  checkpoint: NOTHING_STORED,
  conversation: {
    use: async (context) => (await context.conversation()).map(({ text }) => text),
    sees: ['first', 'second'],
  },
  referenceTasks: {
    use: async (context) => (await context.referenceTasks()).map(({ status }) => status.state),
    sees: ['TASK_STATE_COMPLETED'],
  },
  previousEvents: { use: async (context) => (await context.previousEvents()).length, sees: 1 },
  saveCheckpoint: {
    use: async (context) => {
      await context.saveCheckpoint({ step: 1 });
      await context.saveCheckpoint({ step: 2 });
    },
    sees: undefined,
  },
  countTokens: {
    use: async (context) => {
      await context.countTokens({ inputTokens: 2 });
      await context.countTokens({ outputTokens: 1 });
    },
    sees: undefined,
  },
  requestAuthorization: {
    before: (context) => requestAndFail(context, 'Log in before'),
    use: (context) => requestAndFail(context, 'Log in'),
    sees: 'AuthorizationError',
  },
  callAgent: { use: async (context) => context.callAgent('http://other', 'hi'), sees: 'sent' },
  files: {
    use: async ({ files }) => {
      const part = await files.write('some text', { filename: 'a.txt' });
      const opened = await files.open(part);
      const text = new TextDecoder().decode(await opened.bytes(100));
      return [text, (await files.inline([part], 100)).map((one) => one.raw !== undefined)];
    },
    sees: ['some text', [true]],
  },
};

function requestAndFail(context: RequestContext, text: string): Promise<unknown> {
  return context.requestAuthorization({ message: text, expiresInMs: 1 }).catch((error: Error) => error.name);
}

/** `before`: the call fails without effect. `after`: the call succeeds, and its answer is lost. */
const MOMENTS = ['before', 'after'] as const;

/** Fails each kind of call twice while enabled. */
class Outage {
  isOn = false;
  /** Number of failures by the name of the call. */
  readonly failures = new Map<string, number>();
  readonly #moment: (typeof MOMENTS)[number];

  constructor(moment: (typeof MOMENTS)[number]) {
    this.#moment = moment;
  }

  around(storage: TaskStorage): TaskStorage {
    return interceptedStorage(storage, (name, _args, run) =>
      // The engine retries these calls in its own way.
      ['renew', 'heartbeat', 'claim'].includes(name) ? run() : this.#fail(name, run),
    );
  }

  aroundFiles(store: FileStore): FileStore {
    return new Proxy(store, {
      get: (target, name: keyof FileStore) => {
        const member: unknown = target[name];
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => this.#fail(`file ${name}`, () => Reflect.apply(member, target, args));
      },
    });
  }

  async #fail(name: string, run: () => unknown): Promise<unknown> {
    const failed = this.failures.get(name) ?? 0;
    if (!this.isOn || failed >= 2) return run();
    this.failures.set(name, failed + 1);
    if (this.#moment === 'after') await run();
    throw new StorageError('The storage is away');
  }
}

/**
 * Tests that an agent does not notice an outage of its storage, whatever it does with its context. `concurrent`:
 * several storages can be open at the same time.
 */
export function turnContextContract(name: string, open: OpenStorage, { concurrent = false } = {}): void {
  describe(`an agent on ${name}, whose storage is away for a moment`, { concurrent }, () => {
    for (const [member, entry] of Object.entries(MEMBERS)) {
      if (entry === NOTHING_STORED) continue;
      it.each(MOMENTS)(`goes on with ${member}: calls fail %s their work`, async (moment) => {
        const storage = await open(systemClock);
        const outage = new Outage(moment);
        const files = new MemoryFileStore({ clock: systemClock });
        const begun = Promise.withResolvers<void>();
        let seen: unknown;
        const start = async () => {
          const { handler } = engine(
            {
              resumable: true,
              async execute(context, events) {
                await events.working();
                if (context.text === 'second') {
                  if (context.attempt === 1) {
                    if (entry.before !== undefined) {
                      await entry.before(context);
                      await events.working();
                    }
                    begun.resolve();
                    return new Promise(() => {});
                  }
                  outage.isOn = true;
                  seen = await entry.use(context);
                }
                await events.complete();
                outage.isOn = false;
              },
            },
            {
              storage: outage.around(storage),
              clock: systemClock,
              ids: systemIds,
              turnPorts: portsOn(outage.aroundFiles(files)),
            },
          );
          await handler.start();
          return handler;
        };
        const send = async (handler: Awaited<ReturnType<typeof start>>, text: string, referenceTaskIds: string[]) => {
          const request = { ...message({ messageId: text, contextId: 'c', parts: [{ text }] }), referenceTaskIds };
          const configuration = { returnImmediately: text === 'second' };
          const sent = await handler.sendMessage({ message: request, configuration }, call());
          return sent.task !== undefined ? sent.task.id : '';
        };
        // The second attempt of the turn is the one that is interrupted.
        const first = await start();
        const id = await send(first, 'second', [await send(first, 'first', [])]);
        await begun.promise;
        await first.close();
        const second = await start();
        await vi.waitFor(async () => {
          expect((await second.getTask({ id }, call())).status.state).toMatch(/COMPLETED|FAILED/);
        }, 15_000);
        await second.close();
        expect(seen).toEqual(entry.sees);
        expect(outage.failures.size).toBeGreaterThan(0);
        const { records } = await storage.records({ scope: SCOPE, id }, 0, 1_000_000);
        expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
        const states = records.map(({ event }) =>
          event.statusUpdate !== undefined ? event.statusUpdate.status.state : 'task',
        );
        expect(states.filter((state) => state === 'TASK_STATE_COMPLETED')).toHaveLength(1);
        expect((await files.usage(SCOPE)).files).toBe(member === 'files' ? 1 : 0);
        await storage.close();
      });
    }
  });
}

/** The ports of a turn: files in this store, and a call of another agent that keeps and notes values. */
function portsOn(store: FileStore): TurnPorts {
  const rules = { maxBytes: 1_000, ownerBytes: 10_000, expiryMs: 60_000, unfinishedMs: 60_000, mediaTypes: {} };
  const keeper = new FileKeeper({ store, rules, clock: systemClock, ids: systemIds });
  return {
    files: ({ scope, signal, patience }) =>
      new TurnFileAccess({
        keeper,
        scope,
        signal,
        patience,
        urlOf: (id) => `http://files/${id}`,
        named: (url) => ({ id: url.slice('http://files/'.length), tenant: '' }) as never,
        logger: silentLogger,
      }),
    callAgent: ({ course }) => {
      const { keep, kept, note } = turnCourse(course);
      return (async () => {
        await keep('call', 'sent');
        await note({ call: 'sent' });
        return kept('call');
      }) as never;
    },
  };
}
