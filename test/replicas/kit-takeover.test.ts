import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect, type Part, type SendMessageResponse, type StreamResponse, type Task } from 'parley-a2a';
import { answerApprovals, toolApprovals, toolCalls } from 'parley-a2a/tools';
import { CAPNWEB_BINDING, capnwebTransport } from 'parley-a2a-capnweb';
import { grpcTransport } from 'parley-a2a-grpc';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { backendsFrom, Cluster } from './backends.js';

const LONG = { timeout: 90_000 };
const PATIENCE = { timeout: 30_000, interval: 50 };
const program = 'kit-server.mjs';
const NOW = { returnImmediately: true };

const taskOf = (result: SendMessageResponse): Task => {
  if (result.task !== undefined) return result.task;
  throw new Error('the agent answered without a task');
};
const wordsOf = (told?: { readonly parts?: readonly Part[] }) =>
  (told?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join();
const statusText = ({ status }: Task) => wordsOf(status.message);
const callsOf = (task: Task) =>
  toolCalls(task)
    .map(({ tool, state }) => `${tool} ${state}`)
    .sort();

describe.each(backendsFrom('Redis'))('an agent with tools and memory on %s', (backend) => {
  const cluster = new Cluster(backend);
  let folder: string;
  let journal: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-kit-'));
    journal = join(folder, 'journal');
    await cluster.server;
  }, 60_000);
  afterEach(() => cluster.clear());
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a replica whose tools hang, and another one. */
  const boots = async () => {
    const [one, two] = await Promise.all([
      cluster.boot({ program, journal, isStuck: true }),
      cluster.boot({ program, journal }),
    ]);
    return { one, two, first: await connect(one.url), second: await connect(two.url) };
  };
  /** The runs of the tools of a task. */
  const runs = async ({ id }: Task): Promise<readonly string[]> => {
    const lines = (await readFile(journal, 'utf8').catch(() => '')).split('\n');
    return lines.flatMap((line) => (line.startsWith(`${id} `) ? [line.slice(id.length + 1)] : [])).sort();
  };
  const haveRun = (task: Task, expected: readonly string[]) =>
    vi.waitFor(async () => expect(await runs(task)).toEqual(expected), PATIENCE);
  const waitForEnd = (client: Client, { id }: Task): Promise<Task> =>
    vi.waitFor(async () => {
      const task = await client.getTask(id);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      return task;
    }, PATIENCE);

  it('runs a finished call once, and a running one again only if it is idempotent', LONG, async () => {
    const { one, two, first, second } = await boots();
    const { contextId = '' } = taskOf(await first.ask('quick'));
    const message = { parts: [{ text: 'repeatable charge' }], contextId };
    const started = taskOf(await first.sendMessage({ message, configuration: NOW }));
    const watchers = await Promise.all([
      connect(two.url, { prefer: [CAPNWEB_BINDING], bindings: [capnwebTransport()] }),
      connect(two.url, { binding: 'GRPC', bindings: [grpcTransport()] }),
    ]);
    const seen = watchers.map((): StreamResponse[] => []);
    const watching = watchers.map(async (watcher, at) => {
      for await (const event of watcher.subscribeToTask(started.id)) seen[at]?.push(event);
    });
    await vi.waitFor(
      () => expect(seen.map(([event]) => event && Object.keys(event))).toEqual([['task'], ['task']]),
      PATIENCE,
    );
    const before = ['charge 1.3', 'quick 1.1', 'repeatable 1.2'];
    await haveRun(started, before);
    one.signal('SIGKILL');
    await one.waitForExit();

    const task = await waitForEnd(second, started);
    expect(statusText(task)).toBe('quick of one, repeatable of two, interrupted');
    expect(callsOf(task)).toEqual(['charge failed', 'quick succeeded', 'repeatable succeeded']);
    expect(await runs(started)).toEqual([...before, 'repeatable 1.2']);
    await Promise.all(watching);
    const { state, message: answer } = task.status;
    for (const events of seen) {
      expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state, message: { parts: answer?.parts } } } });
    }
    for (const watcher of watchers) watcher.close();

    const remembering = { message: { parts: [{ text: 'remember' }], contextId } };
    const remembered = taskOf(await second.ask(remembering));
    expect(wordsOf(remembered.artifacts?.[0]).split('\n')).toEqual([
      'user: quick',
      'tool-calls: ',
      'found: quick of one',
      'agent: quick of one, quick of two',
      'user: repeatable charge',
      'tool-calls: ',
      'found: quick of one',
      'agent: quick of one, repeatable of two, interrupted',
      'user: remember',
    ]);
  });

  it('runs an approved call once, though the replica that asked is dead and two answers come', LONG, async () => {
    const [{ one, first, second }, three] = await Promise.all([boots(), cluster.boot({ program, journal })]);
    const third = await connect(three.url);
    const asked = taskOf(await first.ask('paid'));
    expect(toolApprovals(asked)).toMatchObject([{ tool: 'paid', input: 'two' }]);
    one.signal('SIGKILL');
    await one.waitForExit();
    const waiting = await second.getTask(asked.id);
    expect(toolApprovals(waiting)).toEqual(toolApprovals(asked));
    const approve = (client: Client) => client.sendMessage({ message: answerApprovals(waiting, 'approve') });
    // The later answer may find a task that has ended.
    const answers = await Promise.allSettled([approve(second), approve(third)]);
    expect(answers.map(({ status }) => status)).toContain('fulfilled');
    const done = await waitForEnd(second, asked);
    expect(statusText(done)).toBe('quick of one, paid of two');
    expect(callsOf(done)).toEqual(['paid succeeded', 'quick succeeded']);
    expect(await runs(asked)).toEqual(['paid 1.2', 'quick 1.1']);
  });

  it('does not run an approved call again that was running', LONG, async () => {
    const { one, first, second } = await boots();
    const asked = taskOf(await first.ask('paid'));
    await first.sendMessage({ message: answerApprovals(asked, 'approve'), configuration: NOW });
    await haveRun(asked, ['paid 1.2', 'quick 1.1']);
    one.signal('SIGKILL');
    await one.waitForExit();
    const done = await waitForEnd(second, asked);
    expect(statusText(done)).toBe('quick of one, interrupted');
    expect(callsOf(done)).toEqual(['paid failed', 'quick succeeded']);
    expect(await runs(asked)).toEqual(['paid 1.2', 'quick 1.1']);
  });
});
