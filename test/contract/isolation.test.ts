import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { JsonObject } from '../../packages/parley/src/model/json.js';
import type { Message } from '../../packages/parley/src/model/message.js';
import type { SendMessageRequest } from '../../packages/parley/src/model/send-message-request.js';
import { DefaultRequestHandler } from '../../packages/parley/src/server/default-request-handler.js';
import type { EventQueue, RawEvent } from '../../packages/parley/src/server/event-queue.js';
import { interceptedHandler, type ServerInterceptor } from '../../packages/parley/src/server/intercepted-handler.js';
import { IsolatedRequestHandler } from '../../packages/parley/src/server/isolated-request-handler.js';
import { isolation } from '../../packages/parley/src/server/isolation.js';
import type { RequestContext } from '../../packages/parley/src/server/request-context.js';
import type { RequestHandler } from '../../packages/parley/src/server/request-handler.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { ScopedTasks } from '../../packages/parley/src/store/scoped-tasks.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import type { StreamItem } from '../../packages/parley/src/task/stream-item.js';
import { CountingIds } from '../../packages/parley/test/counting-ids.js';
import { CapturingLogger, call } from '../../packages/parley/test/engine.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const USER = { id: 'ann', name: 'Ann' };
const SCOPE = { agent: 'test', tenant: '', owner: USER.id };

/** The steps of an agent in a turn. The agent changes each object after it has passed it on. */
const STEPS = ['progress', 'artifact', 'chunk', 'raw status', 'raw artifact', 'authorization'] as const;
type Step = (typeof STEPS)[number];
interface Script {
  readonly turns: readonly (readonly Step[])[];
  readonly last: 'complete' | 'ask' | 'raw task';
}
const scripts: fc.Arbitrary<Script> = fc.record({
  turns: fc.array(fc.array(fc.constantFrom(...STEPS), { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  last: fc.constantFrom('complete', 'ask', 'raw task'),
});

const metadata = (): JsonObject => ({ k: 'as given', deep: { list: ['as given', { k: 'as given' }] } });
const parts = () => [{ text: 'as given', metadata: metadata() }, { data: { k: ['as given'] } }];
const newMessage = (messageId: string) => ({
  messageId,
  parts: parts(),
  metadata: metadata(),
  extensions: ['urn:as-given'],
});

/** Changes all members and lists that can be reached from an object, and adds members. */
function spoil(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value) || value instanceof AbortSignal) return;
  seen.add(value);
  for (const name of Object.keys(value)) {
    const members = value as Record<string, unknown>;
    if (typeof members[name] === 'object' && members[name] !== null) spoil(members[name], seen);
    else Reflect.set(members, name, 'spoilt');
  }
  if (Array.isArray(value)) value.push('spoilt');
  else Reflect.set(value, 'spoilt', true);
}

type Change = (value: unknown) => void;

/** Everything that an agent can read of its turn. */
async function readAll(context: RequestContext): Promise<readonly unknown[]> {
  const { message, task, history, user, extensions, acceptedOutputModes, checkpoint } = context;
  const [references, previous] = [await context.referenceTasks(), await context.previousEvents()];
  const events = previous.map((record) => ({ event: record.event, history: record.history, extra: record.metadata }));
  return [
    message,
    task,
    history,
    user,
    extensions,
    acceptedOutputModes,
    context.metadata,
    checkpoint,
    references,
    events,
  ];
}

function publish(step: Step, events: EventQueue, change: Change, id: string): void {
  const given: Record<Step, () => { object: object; send: (object: never) => Promise<unknown> }> = {
    progress: () => ({ object: newMessage(`w-${id}`), send: (object) => events.working(object) }),
    artifact: () => ({ object: parts(), send: (object) => events.artifact(object, { artifactId: 'a' }) }),
    chunk: () => ({ object: parts(), send: (object) => events.append('a', object) }),
    authorization: () => ({ object: newMessage(`q-${id}`), send: (object) => events.authRequired(object) }),
    'raw status': () => ({
      object: { statusUpdate: { status: { state: 'TASK_STATE_WORKING' }, metadata: metadata() } },
      send: (object) => events.publish(object),
    }),
    'raw artifact': () => ({
      object: { artifactUpdate: { artifact: { artifactId: 'b', parts: parts(), metadata: metadata() } } },
      send: (object) => events.publish(object),
    }),
  };
  const { object, send } = given[step]();
  void send(object as never);
  change(object);
}

/** Plays a script. `change` gets every object that passes between application and engine, in both directions. */
async function play(storage: TaskStorage, script: Script, way: 'direct' | 'intercepted', change: Change) {
  const seen: string[] = [];
  const turns = [...script.turns];
  let turn = 0;
  const executor = {
    async execute(context: RequestContext, events: EventQueue) {
      const steps = turns.shift() ?? [];
      const isLast = turns.length === 0;
      turn += 1;
      const all = await readAll(context);
      seen.push(JSON.stringify([context.text, all]));
      change(all);
      for (const [at, step] of steps.entries()) publish(step, events, change, `${turn}-${at}`);
      if (!isLast || script.last === 'ask') {
        const question = newMessage(`ask-${turn}`);
        void events.inputRequired(question);
        return change(question);
      }
      if (script.last === 'complete') {
        const answer = newMessage('bye');
        void events.complete(answer);
        return change(answer);
      }
      const whole = {
        task: { status: { state: 'TASK_STATE_COMPLETED' as const }, artifacts: [{ artifactId: 'c', parts: parts() }] },
      };
      void events.publish(whole as RawEvent);
      change(whole);
    },
  };
  const ids = new CountingIds();
  const logger = new CapturingLogger();
  const options = { agent: 'test', executor, storage, clock: systemClock, ids, logger };
  const engine = way === 'direct' ? new IsolatedRequestHandler(options) : new DefaultRequestHandler(options);
  const spoiler: ServerInterceptor = (made, next) => {
    const outcome = next(made);
    if (!(Symbol.asyncIterator in outcome)) {
      return outcome.then((response) => {
        // Copied, because an interceptor may change the answer later.
        const told: unknown = structuredClone(response);
        change(response);
        change(made.request);
        return told;
      }) as typeof outcome;
    }
    return (async function* () {
      for await (const item of outcome) {
        const told = structuredClone(item.event);
        change(item.event);
        change(made.request);
        yield { ...item, event: told } as StreamItem;
      }
    })() as typeof outcome;
  };
  const handler: RequestHandler = way === 'direct' ? engine : interceptedHandler(engine, [spoiler, isolation]);
  const context = () => call({ user: { ...USER }, extensions: ['urn:asked'] });
  const note = <T>(value: T): T => {
    seen.push(JSON.stringify(value));
    change(value);
    return value;
  };
  const store = new ScopedTasks({ storage, scope: SCOPE, clock: systemClock, ids: new CountingIds('store') });

  const given = {
    id: 'reference',
    metadata: metadata(),
    history: [{ ...newMessage('r'), role: 'ROLE_USER' as const }],
  };
  const creating = store.create(given);
  change(given);
  note(await creating);

  let taskId: string | undefined;
  for (let sent = 1; sent <= script.turns.length; sent += 1) {
    const request: SendMessageRequest = {
      message: {
        ...newMessage(`m${sent}`),
        role: 'ROLE_USER',
        referenceTaskIds: ['reference'],
        ...(taskId !== undefined && { taskId }),
      },
      configuration: { acceptedOutputModes: ['text/plain'] },
      metadata: metadata(),
    };
    if (sent % 2 === 1) {
      const sending = handler.sendMessage(request, context());
      if (way === 'direct') change(request);
      const response = await sending;
      if (response.task === undefined) throw new Error('A task was expected');
      taskId = response.task.id;
      note(response);
    } else {
      for await (const { event } of handler.sendStreamingMessage(request, context())) note(event);
    }
    // A blocking call is answered at an authorization request, after which the turn continues.
    const id = taskId ?? '';
    while (await isRunning(storage, id)) await new Promise((resolve) => setImmediate(resolve));
    note(await handler.getTask({ id }, context()));
    note(await handler.listTasks({ includeArtifacts: true, historyLength: 10 }, context()));
    note(await store.get(id));
    note(await store.list());
    if (sent === script.turns.length) break;
    const metadataOfStore = metadata();
    const updating = store.update(id, (task) => {
      note(task);
      return { metadata: metadataOfStore };
    });
    note(await updating);
    change(metadataOfStore);
  }
  const id = taskId ?? '';
  const { records } = await storage.records({ scope: SCOPE, id }, 0, 1e9);
  const log = records.map(({ text, history, metadata: extra }) => JSON.stringify([JSON.parse(text), history, extra]));
  const stored = [await storage.task(SCOPE, id), await storage.task(SCOPE, 'reference')];
  await engine.close();
  expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  return withoutTimes({ seen, log, stored: stored.map((one) => JSON.stringify(one?.task)) });
}

async function isRunning(storage: TaskStorage, id: string): Promise<boolean> {
  return (await storage.task(SCOPE, id))?.running === true;
}

/** Returns a value without its times, which differ between runs. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
}

const BACKENDS = {
  memory: { open: async (): Promise<TaskStorage> => new MemoryStorage({ clock: systemClock }), numRuns: 60 },
  SQLite: { open: async (): Promise<TaskStorage> => files.open(systemClock), numRuns: 6 },
};

describe.each(Object.entries(BACKENDS))('on %s', (_name, { open, numRuns }) => {
  it.each(['direct', 'intercepted'] as const)(
    'nothing that is handed out or over is shared with the engine (calls are %s)',
    async (way) => {
      await fc.assert(
        fc.asyncProperty(scripts, async (script) => {
          const [left, right] = [await open(), await open()];
          const untouched = await play(left, script, way, () => {});
          const changed = await play(right, script, way, (value) => spoil(value));
          await Promise.all([left.close(), right.close()]);
          expect(JSON.stringify(changed)).not.toContain('spoilt');
          expect(changed).toEqual(untouched);
        }),
        { numRuns },
      );
    },
    120_000,
  );

  it('a turn that runs again may change what it finds', async () => {
    const storage = await open();
    const seen: unknown[] = [];
    const executor = {
      resumable: true,
      async execute(context: RequestContext, events: EventQueue) {
        const all = await readAll(context);
        seen.push(structuredClone(all));
        spoil(all);
        if (seen.length === 3) return events.complete();
        await events.working(newMessage(`w${seen.length}`));
        await context.saveCheckpoint(metadata());
        await events.flush();
        await new Promise(() => {});
      },
    };
    const boot = () =>
      new IsolatedRequestHandler({
        agent: 'test',
        executor,
        storage,
        clock: systemClock,
        ids: new CountingIds(`boot ${seen.length} `),
        logger: new CapturingLogger(),
      });
    const waitFor = async (attempts: number) => {
      const readRecords = async () => (await storage.records({ scope: SCOPE, id }, 0, 1e9)).records;
      while (seen.length < attempts || (await readRecords()).length < attempts + 1)
        await new Promise((go) => setImmediate(go));
    };
    const first = boot();
    const message: Message = { ...newMessage('m'), role: 'ROLE_USER' };
    const request = { message, configuration: { returnImmediately: true } };
    const sent = await first.sendMessage(request, call({ user: USER }));
    const id = sent.task !== undefined ? sent.task.id : '';
    await waitFor(1);
    await first.close();
    const second = boot();
    await second.start();
    await waitFor(2);
    await second.close();
    const third = boot();
    await third.start();
    await waitFor(3);
    expect(JSON.stringify(seen)).not.toContain('spoilt');
    expect(JSON.stringify((await storage.task(SCOPE, id))?.task)).not.toContain('spoilt');
    await third.close();
    await storage.close();
  }, 60_000);
});
