import { type AgentExecutor, connect, createA2AServer, type Message, type Task } from 'parley-a2a';
import { MemoryStorage, systemClock } from 'parley-a2a/server';
import {
  answerApprovals,
  answerQuestion,
  defineTool,
  jsonSchema,
  runTools,
  type ToolEvent,
  ToolRegistry,
  type ToolRun,
  type ToolRunOptions,
  toolApprovals,
  toolCalls,
  toolEventsOf,
  toolQuestions,
} from 'parley-a2a/tools';
import { assertToolLifecycle } from 'parley-a2a-testing';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

type Events = Parameters<AgentExecutor['execute']>[1];
type Body = (run: ToolRun, events: Events) => Promise<void>;

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const text = jsonSchema<string>({ type: 'string' });

/** Tools that need an approval, ask, never end, or answer at once. */
function toolsOf() {
  const runs: string[] = [];
  const pay = defineTool({ name: 'pay', input: text, needsApproval: true, run: (what) => runs.push(`pay ${what}`) });
  const ask = defineTool({
    name: 'ask',
    input: text,
    run: (what, { ask }) => {
      const answer = ask?.({ message: `May I ${what}?` });
      return answer?.action ?? 'none';
    },
  });
  const stuck = defineTool({ name: 'stuck', input: text, run: () => new Promise<never>(() => {}) });
  const quick = defineTool({ name: 'quick', input: text, idempotent: true, run: (what) => `quick ${what}` });
  // It is recorded as running after 20 ms.
  const slow = defineTool({
    name: 'slow',
    input: text,
    idempotent: true,
    run: () => new Promise<null>((resolve) => void setTimeout(() => resolve(null), 40)),
  });
  return { runs, pay, ask, stuck, quick, slow };
}
type Tools = ReturnType<typeof toolsOf>;

const statusText = ({ status }: Task) =>
  (status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');
const states = (task: Task) =>
  toolCalls(task)
    .map(({ tool, state }) => `${tool} ${state}`)
    .sort();
const failures = (task: Task) =>
  toolCalls(task)
    .flatMap(({ failure }) => failure?.message ?? [])
    .sort();

/** The last states of calls as the data of the task have them, for readers without this library. */
function recordedStates({ artifacts = [] }: Task): readonly string[] {
  const last = new Map<string, string>();
  for (const part of artifacts.find(({ artifactId }) => artifactId === 'tool-calls')?.parts ?? []) {
    const { id, tool, state } = (part as { data: { toolCall: Record<string, string> } }).data.toolCall;
    last.set(`${id}`, `${tool} ${state}`);
  }
  return [...last.values()].sort();
}

/** A server whose agent publishes by the queue of its turn, as an executor of an author does. */
async function serveTools(
  storage: string,
  body: (tools: Tools) => Body,
  { cancelGraceMs, run }: { readonly cancelGraceMs?: number; readonly run?: ToolRunOptions } = {},
) {
  const tools = toolsOf();
  const registry = new ToolRegistry([tools.pay, tools.ask, tools.stuck, tools.quick, tools.slow]);
  const executor: AgentExecutor = {
    resumable: true,
    execute: async (context, events) => {
      if (context.text === 'a question of another part') return events.inputRequired('May I go on?');
      await runTools(context, events, registry, (run) => body(tools)(run, events), run);
    },
  };
  const stored = storage === 'sqlite' ? await files.open(systemClock) : new MemoryStorage({ clock: systemClock });
  const server = createA2AServer({
    agent: executor,
    storage: stored,
    logger: silent,
    ...(cancelGraceMs !== undefined && { limits: { cancelGraceMs } }),
  });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await stored.close();
  });
  const { url } = await server.listen(0);
  const client = await connect(url);
  const send = async (message: string | (Partial<Message> & Pick<Message, 'parts'>)): Promise<Task> => {
    const answer = await client.ask({ message });
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
  const say = (task: Task, words: string) => send({ taskId: task.id, parts: [{ text: words }] });
  /** Sends a message, and resolves to the id of its task once one of its calls is running. */
  const waitForStuckCall = async (prompt: string): Promise<string> => {
    for await (const event of client.sendStreamingMessage(prompt)) {
      for (const { taskId, call } of toolEventsOf(event)) {
        if (call.state === 'running' && call.tool === 'stuck' && taskId !== undefined) return taskId;
      }
    }
    throw new Error('no call runs');
  };
  return { ...tools, url, client, send, say, waitForStuckCall };
}

/** The ways of an agent to end its task. */
const ENDS = {
  complete: 'TASK_STATE_COMPLETED',
  fail: 'TASK_STATE_FAILED',
  reject: 'TASK_STATE_REJECTED',
  cancel: 'TASK_STATE_CANCELED',
  message: 'TASK_STATE_COMPLETED',
  publish: 'TASK_STATE_FAILED',
  throw: 'TASK_STATE_FAILED',
  'throw a ToolError': 'TASK_STATE_FAILED',
} as const;

/** Makes a call, and ignores its failure. */
const catchError = (call: Promise<unknown>) => call.catch((error: unknown) => error);

describe.each(['memory', 'sqlite'])('with tasks in %s', (storage) => {
  it('a call that runs while its task is canceled ends as canceled, and so do calls that wait beside it', async () => {
    const told: ToolEvent[] = [];
    const { client, waitForStuckCall } = await serveTools(
      storage,
      ({ pay, quick, stuck }) =>
        async (run) => {
          await run.call(quick, 'one');
          void catchError(run.call(pay, 'two'));
          await run.call(stuck, 'three');
        },
      { run: { onEvent: (event) => told.push(event) } },
    );
    const id = await waitForStuckCall('go');
    const events: ToolEvent[] = [];
    const watching = (async () => {
      for await (const event of client.subscribeToTask(id)) events.push(...toolEventsOf(event));
    })();
    await vi.waitFor(() => expect(events.length).toBeGreaterThan(0), { timeout: 15_000 });
    const task = await client.cancelTask(id);
    expect([task.status.state, states(task)]).toEqual([
      'TASK_STATE_CANCELED',
      ['pay canceled', 'quick succeeded', 'stuck canceled'],
    ]);
    expect(failures(task)).toEqual([
      'The task ended before pay ran.',
      'The task ended before the call of stuck did. Its effect is not known.',
    ]);
    expect(recordedStates(task)).toEqual(states(task));
    expect(states(await client.getTask(id))).toEqual(states(task));
    await watching;
    expect(events.slice(-2).map(({ call }) => call.state)).toEqual(['canceled', 'canceled']);
    expect(() => assertToolLifecycle(told)).not.toThrow();
    expect(told.slice(-2).map(({ call }) => call.state)).toEqual(['canceled', 'canceled']);
  });

  it('an agent that does not stop, or that begins a call after the cancel, leaves no call open', async () => {
    const { client, waitForStuckCall } = await serveTools(
      storage,
      ({ pay, quick, stuck }) =>
        async (run) => {
          await catchError(run.call(stuck, 'one'));
          await catchError(run.call(pay, 'two'));
          await catchError(run.call(quick, 'three'));
          if (run.text === 'hang') await new Promise(() => {});
        },
      { cancelGraceMs: 200 },
    );
    for (const prompt of ['go', 'hang']) {
      const task = await client.cancelTask(await waitForStuckCall(prompt));
      expect([task.status.state, states(task)]).toEqual(['TASK_STATE_CANCELED', ['stuck canceled']]);
      expect(recordedStates(task)).toEqual(states(task));
    }
  });

  it('a call that waits while its task is canceled ends as canceled, and is no longer asked', async () => {
    const { client, send } = await serveTools(storage, ({ pay, ask }) => async (run) => {
      await Promise.all([run.call(pay, 'one'), run.call(ask, 'go')]);
    });
    const asked = await send('go');
    expect([states(asked), toolApprovals(asked).length, toolQuestions(asked).length]).toEqual([
      ['ask requested', 'pay requested'],
      1,
      1,
    ]);
    const canceled = await client.cancelTask(asked.id);
    for (const task of [canceled, await client.getTask(asked.id)]) {
      expect([task.status.state, states(task)]).toEqual(['TASK_STATE_CANCELED', ['ask canceled', 'pay canceled']]);
      expect([toolApprovals(task), toolQuestions(task)]).toEqual([[], []]);
      expect(toolCalls(task).flatMap(({ question }) => question ?? [])).toEqual([]);
      expect(failures(task)).toEqual([
        'The task ended before pay ran.',
        'The task ended before the call of ask did. Its effect is not known.',
      ]);
      expect(() => answerApprovals(task, 'approve')).toThrow(RangeError);
    }
    expect(toolEventsOf({ task: canceled }).map(({ call }) => call.state)).toEqual(['canceled', 'canceled']);
  });

  it('an agent that ends its task while calls wait closes them', async () => {
    const { send } = await serveTools(storage, ({ pay, stuck }) => async (run, events) => {
      await catchError(run.call(pay, 'one'));
      void catchError(run.call(stuck, 'two'));
      // The second call is recorded by now.
      await events.flush();
      const how = run.text as keyof typeof ENDS;
      if (how === 'throw') throw new Error('no more');
      if (how === 'throw a ToolError') return void (await run.call('unknown', 'x'));
      if (how === 'publish') await events.publish({ statusUpdate: { status: { state: ENDS.publish } } });
      else await events[how]('done');
    });
    const ended = Object.entries(ENDS).map(async ([how, state]) => {
      const task = await send(how);
      expect([how, task.status.state, states(task).slice(0, 2)]).toEqual([
        how,
        state,
        ['pay canceled', 'stuck canceled'],
      ]);
      expect(recordedStates(task)).toEqual(states(task));
    });
    await Promise.all(ended);
  });

  it('a call that goes on after the end of its task, or waits for its place, ends without a record', async () => {
    const outcomes: Promise<unknown>[] = [];
    const { send } = await serveTools(
      storage,
      ({ pay, slow, stuck }) =>
        async (run, events) => {
          await catchError(run.call(pay, 'one'));
          outcomes.push(
            catchError(run.call(slow, 'two')),
            catchError(run.call(stuck, 'three')),
            catchError(run.call(stuck, 'four')),
          );
          // Its rejection stays unhandled by the agent.
          void run.call(slow, 'five');
          await events.complete('done');
          outcomes.push(catchError(run.call(pay, 'six')));
        },
      { run: { limits: { parallelCalls: 1 } } },
    );
    const task = await send('go');
    expect([task.status.state, states(task)]).toEqual(['TASK_STATE_COMPLETED', ['pay canceled']]);
    for (const outcome of outcomes) expect(await outcome).toMatchObject({ name: 'ToolError', reason: 'aborted' });
  });

  it('an agent that asks a question of its own asks the open ones, too', async () => {
    const { send, say, runs } = await serveTools(storage, ({ pay, ask, quick }) => async (run, events) => {
      const [paid] = await Promise.all([catchError(run.call(pay, 'one')), catchError(run.call(ask, 'go'))]);
      await run.call(quick, 'three');
      if (paid instanceof Error) await events.inputRequired('Which color?', { metadata: { own: true } });
      else await events.complete(`paid ${paid}`);
    });
    const asked = await send('go');
    const [own, approvals, questions] = statusText(asked).split(/\n\n(?=This call)|(?=ask asks:)/);
    expect([own, approvals?.includes('1.1: pay "one"'), questions]).toEqual([
      'Which color?',
      true,
      'ask asks:\n\nMay I go?\n\nAnswer yes or no.',
    ]);
    expect(toolApprovals(asked)).toMatchObject([{ callId: '1.1', tool: 'pay', input: 'one' }]);
    expect(toolQuestions(asked)).toMatchObject([{ callId: '1.2', tool: 'ask', message: 'May I go?' }]);
    const half = await send(answerApprovals(asked, 'approve'));
    expect([half.status.state, statusText(half)]).toEqual(['TASK_STATE_COMPLETED', 'paid 1']);
    expect([states(half), runs]).toEqual([['ask canceled', 'pay succeeded', 'quick succeeded'], ['pay one']]);
    // Another message is a new prompt, as it is without the agent's own question.
    const again = await send('go');
    const other = await send(answerQuestion(again, { action: 'accept', content: {} }));
    expect(states(other)).toEqual(['ask succeeded', 'pay requested', 'quick succeeded']);
    expect(toolApprovals(other)).toHaveLength(1);
    const blue = await say(other, 'blue');
    expect(states(blue)).toContain('pay refused');
    expect([runs, toolApprovals(blue)]).toMatchObject([['pay one'], [{ callId: '2.1' }]]);
  });

  it('an agent that asks by a raw event, or with parts, asks the open questions, too', async () => {
    const { send } = await serveTools(storage, ({ pay }) => async (run, events) => {
      await catchError(run.call(pay, 'one'));
      if (run.text === 'parts') return events.inputRequired([{ text: 'Which' }, { text: ' color?' }]);
      if (run.text === 'nothing') return events.inputRequired();
      const message = { parts: [{ text: 'Which color?' }] };
      await events.publish({ statusUpdate: { status: { state: 'TASK_STATE_INPUT_REQUIRED', message } as never } });
    });
    for (const prompt of ['raw', 'parts', 'nothing']) {
      const asked = await send(prompt);
      const before = prompt === 'nothing' ? '' : 'Which color?\n\n';
      expect([prompt, statusText(asked).startsWith(`${before}This call needs`)]).toEqual([prompt, true]);
      expect(toolApprovals(asked)).toMatchObject([{ callId: '1.1' }]);
    }
  });

  it('a yes decides only calls that the last question lists', async () => {
    const { send, say, runs } = await serveTools(storage, ({ pay }) => async (run, events) => {
      await events.complete(`${await run.call(pay, run.text)}`);
    });
    const asked = await send('go');
    const between = await say(asked, 'a question of another part');
    expect([statusText(between), toolApprovals(between)]).toEqual(['May I go on?', []]);
    const yes = await say(between, 'yes');
    expect([runs, states(yes), toolApprovals(yes)]).toMatchObject([
      [],
      ['pay refused', 'pay requested'],
      [{ callId: '2.1', input: 'yes' }],
    ]);
    // An answer by data means a call: the agent asks for what still waits.
    const again = await say(yes, 'a question of another part');
    const strayed = await send(answerApprovals({ ...yes, id: again.id }, 'approve'));
    expect([runs, strayed.status.state, toolApprovals(strayed)]).toMatchObject([
      [],
      'TASK_STATE_INPUT_REQUIRED',
      [{ callId: '2.1', input: 'yes' }],
    ]);
    expect(statusText(await send(answerApprovals(strayed, 'approve')))).toBe('1');
    expect(runs).toEqual(['pay yes']);
  });
});

it('a stop of the process cancels no call: it goes on in the next process', async () => {
  const path = files.fresh();
  const repeated = defineTool({
    name: 'stuck',
    input: text,
    idempotent: true,
    run: () => new Promise<never>(() => {}),
  });
  const told: string[] = [];
  const start = async () => {
    const storage = await files.open(systemClock, { path });
    const executor: AgentExecutor = {
      resumable: true,
      execute: (context, events) =>
        runTools(context, events, new ToolRegistry([repeated]), async (run) => void (await run.call(repeated, 'x')), {
          onEvent: ({ call }) => told.push(call.state),
        }),
    };
    const server = createA2AServer({ agent: executor, storage });
    const client = await connect((await server.listen(0)).url);
    const close = async () => {
      await server.close({ graceMs: 0 });
      await storage.close();
    };
    return { client, close };
  };
  const first = await start();
  const sent = await first.client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
  const id = sent.task !== undefined ? sent.task.id : '';
  await vi.waitFor(async () => expect(states(await first.client.getTask(id))).toEqual(['stuck running']), {
    timeout: 15_000,
  });
  await first.close();
  expect(told).toEqual(['running']);
  const second = await start();
  await vi.waitFor(() => expect(told).toEqual(['running', 'running']), { timeout: 15_000 });
  const task = await second.client.cancelTask(id);
  expect([task.status.state, states(task), recordedStates(task)]).toEqual([
    'TASK_STATE_CANCELED',
    ['stuck canceled'],
    ['stuck canceled'],
  ]);
  expect(told.at(-1)).toBe('canceled');
  await second.close();
}, 60_000);
