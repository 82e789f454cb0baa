import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentKinds, type LiveAgent } from './agents/agents.js';
import { EmptyFolder, type ParleyOptions, parley, parleyJson, RunningParley } from './parley.js';

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly {
    readonly parts: readonly { readonly text?: string; readonly raw?: string; readonly data?: unknown }[];
  }[];
}
interface Event {
  readonly task?: Task;
  readonly message?: { readonly parts: readonly { readonly text: string }[] };
  readonly statusUpdate?: {
    readonly taskId: string;
    readonly contextId: string;
    readonly status: { readonly state: string };
  };
  readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly { readonly text?: string }[] } };
}

const HOOK = 'https://hook.example/hook';
const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
const textsOf = ({ artifacts = [] }: Task) => artifacts.flatMap(({ parts }) => parts.map(({ text }) => text)).join('');

// Each call is a process, so only the long form has agents on other SDKs. `test/client-peers` tests our client too.
const kinds = process.env.TEST_LONG === undefined ? agentKinds().slice(0, 1) : agentKinds();

describe.each(kinds)('against $name', ({ start }) => {
  const folder = new EmptyFolder();
  let agent: LiveAgent;
  let env: Record<string, string>;
  beforeAll(async () => {
    agent = await start();
    env = { A2ACLI_AGENT_CARD: agent.url, A2ACLI_POLL_INTERVAL: '100ms' };
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const run = (args: readonly string[], options: ParleyOptions = {}) =>
    parley(args, { ...options, env: { ...env, ...options.env } });
  const json = <T>(...args: readonly string[]) => parleyJson<T>(args, { env });
  const sendTask = async (...args: readonly string[]) => (await json<{ task: Task }>('send', ...args)).task;

  it('CARD_GET_001: prints the card', async () => {
    const { stdout, code } = await run(['card', 'get']);
    expect(stdout).toMatch(/^Name: .+\nDescription: /);
    expect(stdout).toMatch(/^Interface: JSONRPC 1\.0 http/m);
    expect(code).toBe(0);
  });

  it('CARD_GET_002: finds the card valid', async () => {
    expect((await run(['card', 'get', '--validate'])).code).toBe(0);
  });

  it('SEND_001, SEND_002, OUT_002: waits by default, and prints one document with the result', async () => {
    const { stdout, code } = await run(['send', 'hello there', '-o', 'json']);
    const answer = JSON.parse(stdout) as { task: Task };
    expect(Object.keys(answer)).toEqual(['task']);
    expect(answer.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(answer.task)).toBe('You said: hello there');
    expect(code).toBe(0);
  });

  it('SEND_002, OUT_006: --async prints the ids at once; TASK_POLL_001: task get --wait waits for the end', async () => {
    const running = await sendTask('slow 600', '--async');
    expect(running).toMatchObject({ id: expect.any(String), contextId: expect.any(String) });
    const once = await json<Task>('task', 'get', running.id);
    expect(once.status.state).toMatch(/SUBMITTED|WORKING/);
    const { id } = await sendTask('slow 1', '--async');
    const waited = await json<Task>('task', 'get', id, '--wait');
    expect(waited.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('SEND_003, OUT_003: --stream prints each event as a line, the end last', async () => {
    const { stdout, code } = await run(['send', 'stream', '--stream', '-o', 'json']);
    const events = linesOf(stdout);
    const chunks = events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts.map(({ text }) => text) ?? []);
    expect(chunks.join('')).toBe('one two three four');
    expect(events.at(-1)?.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(code).toBe(0);
  });

  it('SEND_003: a message without a task ends the stream', async () => {
    const { stdout, code } = await run(['send', 'message hi', '--stream', '-o', 'json']);
    expect(linesOf(stdout)).toMatchObject([{ message: { parts: [{ text: 'You said: message hi' }] } }]);
    expect(code).toBe(0);
  });

  it('OUT_005: text output has labelled lines and blocks; --stream ends with the ids and the state', async () => {
    const { stdout } = await run(['send', 'hello']);
    expect(stdout).toMatch(
      /^Task: \S+\nContext: \S+\nState: COMPLETED\n(?:Artifact: .+\n)Text:\nYou said: hello\n\nResume: parley send .+\n$/,
    );
    const { stdout: streamed } = await run(['send', 'stream', '--stream']);
    expect(streamed).toMatch(/^Text:\none two three four\n\n/m);
    expect(streamed).toMatch(/State: COMPLETED\nTask: \S+\nContext: \S+\nState: COMPLETED\nResume: .+\n$/);
  });

  it('SEND_004: text, file and data parts are printed', async () => {
    expect((await run(['send', 'file'])).stdout).toMatch(/^File: pixel\.png, image\/png, \d+ bytes$/m);
    expect((await run(['send', 'data'])).stdout).toMatch(/^Data:\n\{\n {2}"said": "data"/m);
  });

  it('EXIT_002: a completed call exits with 0 in every state of the task', async () => {
    for (const [word, state] of [
      ['fail', 'FAILED'],
      ['reject', 'REJECTED'],
      ['ask', 'INPUT_REQUIRED'],
      ['auth', 'AUTH_REQUIRED'],
    ]) {
      const { code, stdout, stderr } = await run(['send', word ?? '']);
      expect(stdout).toMatch(new RegExp(`^State: ${state}$`, 'm'));
      expect(stderr).toMatch(/^warning: the task /m);
      expect(code).toBe(0);
    }
  });

  it('INTERACT_001: a context goes on with a new task', async () => {
    const first = await sendTask('hello');
    const second = await sendTask('again', '--context-id', first.contextId);
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
  });

  it('INTERACT_002, INTERACT_004: the printed command answers a task that waits for input', async () => {
    const { stdout } = await run(['send', 'ask']);
    const id = /^Task: (\S+)$/m.exec(stdout)?.[1] ?? '';
    expect(stdout).toContain(`Resume: parley send --task-id ${id} "<reply>"`);
    const answered = await sendTask('Ada', '--task-id', id);
    expect(answered).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(textsOf(answered)).toBe('Hello, Ada');
  });

  it('INTERACT_002: a refused id is a protocol error', async () => {
    const { code, stdout } = await run(['send', 'x', '--task-id', 'no-such-task', '-o', 'json']);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'TaskNotFoundError',
      hint: expect.stringContaining('--debug'),
    });
    expect(code).toBe(1);
    const over = await sendTask('hello');
    const late = await run(['send', 'x', '--task-id', over.id, '-o', 'json']);
    expect(late.code).toBe(1);
    expect(JSON.parse(late.stdout).error.code).toMatch(
      /^(?:UnsupportedOperation|InvalidParams|InvalidRequest|TaskNotFound)Error$/,
    );
  });

  it('TASK_GET_001: gets a task by its id, with artifacts and the requested history', async () => {
    const { id } = await sendTask('hello');
    const task = await json<Task & { history?: unknown[] }>('task', 'get', id, '--history', '0');
    expect(textsOf(task)).toBe('You said: hello');
    expect(task.history ?? []).toEqual([]);
    expect((await run(['task', 'get', id])).stdout).toContain(`Task: ${id}\n`);
  });

  it('TASK_CANCEL_001: cancels, accepts a repetition, and prints the state', async () => {
    const { id } = await sendTask('slow', '--async');
    expect((await json<Task>('task', 'cancel', id)).status.state).toBe('TASK_STATE_CANCELED');
    expect((await json<Task>('task', 'cancel', id)).status.state).toBe('TASK_STATE_CANCELED');
    const over = await sendTask('hello');
    const late = await run(['task', 'cancel', over.id, '-o', 'json']);
    expect(JSON.parse(late.stdout).error.code).toBe('TaskNotCancelableError');
    expect(late.code).toBe(1);
  });

  it('TASK_LIST_001: pages, and filters by context and state', async () => {
    const { contextId } = await sendTask('hello');
    await sendTask('fail', '--context-id', contextId);
    await sendTask('again', '--context-id', contextId);
    const all = await json<{ tasks: Task[]; nextPageToken: string }>(
      'task',
      'list',
      '--context-id',
      contextId,
      '--page-size',
      '2',
    );
    expect(all.tasks).toHaveLength(2);
    const rest = await json<{ tasks: Task[] }>(
      'task',
      'list',
      '--context-id',
      contextId,
      '--page-size',
      '2',
      '--page-token',
      all.nextPageToken,
    );
    expect(rest.tasks).toHaveLength(1);
    const failed = await json<{ tasks: Task[] }>('task', 'list', '--context-id', contextId, '--status', 'failed');
    expect(failed.tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_FAILED']);
    const { stdout } = await run(['task', 'list', '--context-id', contextId, '--page-size', '2']);
    expect(stdout).toMatch(/^Next: parley task list --context-id \S+ --page-size 2 --page-token \S+$/m);
    const lines = await run(['task', 'list', '--context-id', contextId, '-o', 'json', '--stream']);
    expect(lines.stdout.trim().split('\n')).toHaveLength(3);
  });

  it('TASK_SUBSCRIBE_001: follows a running task; the first event is the task', async () => {
    const { id } = await sendTask('slow 600', '--async');
    await using events = new RunningParley(['task', 'subscribe', id, '--stream', '-o', 'json'], { env });
    await using end = new RunningParley(['task', 'subscribe', id, '-o', 'json', '--debug'], { env });
    await events.waitForStdout(/\n/);
    await end.waitForStderr(/< #\d+ data: /);
    await run(['task', 'cancel', id]);
    const lines = linesOf((await events.ended).stdout);
    expect(lines[0]?.task?.id).toBe(id);
    expect(lines.at(-1)?.statusUpdate?.status.state).toBe('TASK_STATE_CANCELED');
    expect(JSON.parse((await end.ended).stdout)).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    const late = await run(['task', 'subscribe', id]);
    expect(late.stderr).toMatch(/UnsupportedOperationError.*\nhint: .*parley task get/);
  });

  it('DOWNLOAD_001: saves artifacts, and overwrites files only with --force', async () => {
    const { id } = await sendTask('file');
    const { files } = await json<{ files: { path: string; bytes: number }[] }>(
      'task',
      'download',
      id,
      '--dir',
      folder.path,
    );
    expect(files).toEqual([expect.objectContaining({ path: join(folder.path, 'pixel.png') })]);
    expect(statSync(files[0]?.path ?? '').size).toBe(files[0]?.bytes);
    expect(
      readFileSync(files[0]?.path ?? '')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const again = await run(['task', 'download', id, '--dir', folder.path]);
    expect(again.stderr).toMatch(/is there already/);
    expect((await run(['task', 'download', id, '--dir', folder.path, '--force'])).code).toBe(0);
    await run(['send', 'file', '--save-fileparts', join(folder.path, 'saved')]);
    expect(existsSync(join(folder.path, 'saved', 'pixel.png'))).toBe(true);
  });

  it('TX_004, OUT_001: both bindings give the same output', async () => {
    for (const binding of ['jsonrpc', 'rest']) {
      const task = await sendTask('hello', '--transport', binding);
      expect(textsOf(task)).toBe('You said: hello');
      const { stdout } = await run(['task', 'get', 'no-such-task', '--transport', binding, '-o', 'json']);
      const a2aCode = binding === 'jsonrpc' ? '-32001' : '404';
      expect(JSON.parse(stdout).error).toMatchObject({ code: 'TaskNotFoundError', a2aCode });
    }
  });

  it('PUSH_001: registers, prints, lists and removes webhooks, if the agent supports them', async () => {
    const { capabilities } = await json<{ capabilities: { pushNotifications?: boolean } }>('card', 'get');
    const { id } = await sendTask('slow 600', '--async');
    const hook = ['task', 'push-config', 'create', id, '--url', HOOK, '--id', 'h-1', '--token', 'tok'];
    if (capabilities.pushNotifications !== true) {
      expect((await run(hook)).stderr).toMatch(/the card of the agent offers no push notifications/);
      return;
    }
    expect(await json(...hook)).toMatchObject({ id: 'h-1', url: HOOK });
    expect(await json('task', 'push-config', 'get', id, 'h-1')).toMatchObject({ id: 'h-1' });
    expect(await json('task', 'push-config', 'list', id)).toMatchObject({ configs: [{ id: 'h-1' }] });
    expect((await run(['task', 'push-config', 'list', id])).stdout).toMatch(
      /^Webhook: h-1\nURL: \S+(?:\nToken: <redacted>)?$/m,
    );
    expect(await json('task', 'push-config', 'delete', id, 'h-1')).toEqual({});
    expect(await json('task', 'push-config', 'list', id)).toMatchObject({ configs: [] });
  });

  it('INTERACT_005: no call depends on an earlier one', async () => {
    const first = await sendTask('hello');
    const second = await sendTask('hello');
    expect(second.contextId).not.toBe(first.contextId);
  });

  it('CHAT_001: sends the context, and the task while it waits for a reply', async () => {
    const { stdout, code } = await run(['chat', '-o', 'json'], { input: 'ask\nAda\nhello\n' });
    const ends = linesOf(stdout).flatMap(({ statusUpdate }) =>
      statusUpdate && /INPUT|COMPLETED/.test(statusUpdate.status.state) ? [statusUpdate] : [],
    );
    expect(ends.map(({ status }) => status.state)).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_COMPLETED',
      'TASK_STATE_COMPLETED',
    ]);
    expect(ends[1]?.taskId).toBe(ends[0]?.taskId);
    expect(ends[2]?.taskId).not.toBe(ends[0]?.taskId);
    expect(new Set(ends.map(({ contextId }) => contextId)).size).toBe(1);
    expect(code).toBe(0);
  });

  it('CHAT_001: a task that requests authorization gets the next line', async () => {
    const { stdout, code } = await run(['chat', '-o', 'json'], { input: 'auth\nI have signed in\n' });
    const states = linesOf(stdout).flatMap(({ statusUpdate }) => (statusUpdate ? [statusUpdate] : []));
    const asked = states.find(({ status }) => status.state === 'TASK_STATE_AUTH_REQUIRED');
    expect(states.at(-1)).toMatchObject({ taskId: asked?.taskId, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(code).toBe(0);
  });

  it('OUT_001: a waiting command prints the task id on stderr first, and only the result on stdout', async () => {
    await using running = new RunningParley(['send', 'slow 1', '-o', 'json'], { env });
    const id = await running.waitForStderr(/^Task: (\S+)$/m);
    const { stdout } = await running.ended;
    expect(JSON.parse(stdout)).toMatchObject({ task: { id, status: { state: 'TASK_STATE_COMPLETED' } } });
  });
});
