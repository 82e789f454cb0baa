import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  RELATED_TASK_META_KEY,
  type Task,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { connect } from 'parley-a2a/client';
import { type AgentMcpServerOptions, mcpServerOf } from 'parley-a2a-mcp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { type Answers, overHttp, overStdio, SkilledAgent, type ToolClient } from './skill-world.js';

/** A call as a task. Resolves when the server has made the task. */
async function taskOf(client: Client, message: string, more: object = {}, ttl?: number): Promise<Task> {
  const params = { name: 'talk', arguments: { message, ...more } };
  const task = ttl === undefined ? {} : { ttl };
  return (await client.request({ method: 'tools/call', params }, CreateTaskResultSchema, { task })).task;
}

const resultOf = (client: Client, id: string) => client.experimental.tasks.getTaskResult(id, CallToolResultSchema);
const stateOf = async (client: Client, id: string) => (await client.experimental.tasks.getTask(id)).status;

describe.each([
  ['stdio', overStdio],
  ['streamable HTTP', overHttp],
] as const)('tasks of parley mcp over %s, with the official client', (_, over) => {
  let agent: SkilledAgent;
  let tools: ToolClient;
  beforeAll(async () => {
    agent = await SkilledAgent.start();
    tools = await over(['--agent', agent.url]);
  });
  afterAll(async () => {
    await tools[Symbol.asyncDispose]();
    await agent[Symbol.asyncDispose]();
  });
  const withAnswers = (answers: Answers) => over(['--agent', agent.url], answers);

  it('are offered for each tool', async () => {
    expect(tools.client.getServerCapabilities()?.tasks).toEqual({
      list: {},
      cancel: {},
      requests: { tools: { call: {} } },
    });
    const { tools: listed } = await tools.client.listTools();
    expect(listed.map(({ execution }) => execution)).toEqual([
      { taskSupport: 'optional' },
      { taskSupport: 'optional' },
    ]);
  });

  it('stream from their creation to their result', async () => {
    await tools.client.listTools();
    const seen: string[] = [];
    const stream = tools.client.experimental.tasks.callToolStream({ name: 'talk', arguments: { message: 'hello' } });
    for await (const message of stream) {
      seen.push(message.type);
      if (message.type !== 'result') continue;
      expect(message.result.content).toEqual([{ type: 'text', text: 'You said: hello []' }]);
      const { taskId } = message.result.structuredContent as { taskId: string };
      expect(message.result._meta?.[RELATED_TASK_META_KEY]).toEqual({ taskId });
    }
    expect([seen[0], seen.at(-1)]).toEqual(['taskCreated', 'result']);
  });

  it('answer at once, tell progress and the end, and keep the result', async () => {
    const client = tools.client;
    const states: string[] = [];
    client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void states.push(params.status));
    const seen: (string | undefined)[] = [];
    const began = once(agent.told, 'turn');
    const params = { name: 'talk', arguments: { message: 'hold' } };
    const { task } = await client.request({ method: 'tools/call', params }, CreateTaskResultSchema, {
      task: {},
      onprogress: ({ message }) => seen.push(message),
    });
    await began;
    expect(task).toMatchObject({ status: 'working', ttl: 86_400_000 });
    expect(await stateOf(client, task.taskId)).toBe('working');
    await vi.waitFor(() => expect(seen).toContain('Holding'), 15_000);
    const result = resultOf(client, task.taskId);
    agent.release();
    expect((await result).structuredContent).toMatchObject({ taskId: task.taskId, text: 'Released' });
    expect(await stateOf(client, task.taskId)).toBe('completed');
    await vi.waitFor(() => expect(states).toContain('completed'), 15_000);
    expect((await resultOf(client, task.taskId)).structuredContent).toMatchObject({ text: 'Released' });
    const { tasks } = await client.experimental.tasks.listTasks();
    expect(tasks.find(({ taskId }) => taskId === task.taskId)?.status).toBe('completed');
  });

  it('are canceled by tasks/cancel, once', async () => {
    await using other = await SkilledAgent.start();
    await using own = await over(['--agent', other.url]);
    const { client } = own;
    const began = once(other.told, 'turn');
    const { taskId } = await taskOf(client, 'hold');
    await began;
    const canceled = once(other.told, 'canceled');
    expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({ taskId, status: 'cancelled' });
    await canceled;
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toThrow('is cancelled already');
    expect(await resultOf(client, taskId)).toMatchObject({ isError: true });
  });

  it('ask the user while their result is awaited', async () => {
    await using asked = await withAnswers([
      { action: 'accept', content: { answer: 'again' } },
      { action: 'accept', content: { answer: 'Ada' } },
    ]);
    const { taskId } = await taskOf(asked.client, 'ask');
    await vi.waitFor(async () => expect(await stateOf(asked.client, taskId)).toBe('input_required'), 15_000);
    expect((await resultOf(asked.client, taskId)).structuredContent).toMatchObject({ taskId, text: 'Hello, Ada' });
    expect(await stateOf(asked.client, taskId)).toBe('completed');
  });

  it('take the answer as a call if the client cannot ask', async () => {
    const { client } = tools;
    const { taskId } = await taskOf(client, 'ask');
    await vi.waitFor(async () => expect(await stateOf(client, taskId)).toBe('input_required'), 15_000);
    expect(JSON.stringify((await resultOf(client, taskId)).content)).toContain('What is your name?');
    const again = await taskOf(client, 'Ada', { taskId });
    expect(again.taskId).toBe(taskId);
    await vi.waitFor(async () => expect(await stateOf(client, taskId)).toBe('completed'), 15_000);
    expect((await resultOf(client, taskId)).structuredContent).toMatchObject({ text: 'Hello, Ada' });
  });

  it('tell failures, and keep an answer without a task', async () => {
    const { client } = tools;
    const failed = await taskOf(client, 'fail');
    await vi.waitFor(async () => expect(await stateOf(client, failed.taskId)).toBe('failed'), 15_000);
    expect(await resultOf(client, failed.taskId)).toMatchObject({ isError: true });
    const direct = await taskOf(client, 'message');
    expect(direct.status).toBe('completed');
    expect((await resultOf(client, direct.taskId)).content).toEqual([{ type: 'text', text: 'A direct answer' }]);
    await expect(client.experimental.tasks.cancelTask(direct.taskId)).rejects.toThrow('is completed already');
  });

  it('belong to their session', async () => {
    await using other = await withAnswers([]);
    const { taskId } = await taskOf(tools.client, 'hello');
    for (const call of [
      () => other.client.experimental.tasks.getTask(taskId),
      () => resultOf(other.client, taskId),
      () => other.client.experimental.tasks.cancelTask(taskId),
    ])
      await expect(call()).rejects.toMatchObject({ code: -32602 });
    expect((await other.client.experimental.tasks.listTasks()).tasks).toEqual([]);
  });

  it('refuse a call that can become none', async () => {
    const { client } = tools;
    await expect(taskOf(client, 'a', { other: 1 })).rejects.toMatchObject({ code: -32602 });
    await expect(taskOf(client, 'a', { taskId: 'nothing-like-it' })).rejects.toThrow('TASK_NOT_FOUND');
  });

  it('survive SIGKILL of the agent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-mcp-tasks-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const port = await freePort();
    const first = await startResumable(folder, port);
    await using own = await over(['--agent', first.url]);
    const { taskId } = await taskOf(own.client, 'go');
    await vi.waitFor(async () => {
      expect((await own.client.experimental.tasks.getTask(taskId)).statusMessage).toBe('attempt 1');
    }, 15_000);
    await first.kill();
    expect(await own.client.experimental.tasks.getTask(taskId)).toMatchObject({
      status: 'working',
      statusMessage: 'The agent cannot be reached.',
    });
    await startResumable(folder, port);
    await vi.waitFor(async () => expect(await stateOf(own.client, taskId)).toBe('completed'), { timeout: 30_000 });
    expect((await resultOf(own.client, taskId)).structuredContent).toMatchObject({ text: 'ended by attempt 2' });
  }, 60_000);
});

/** Starts an agent in a process of its own. */
async function startResumable(folder: string, port: number): Promise<{ url: string; kill: () => Promise<void> }> {
  const server = fileURLToPath(new URL('resumable-server.mjs', import.meta.url));
  const args = [server, `sqlite:${join(folder, 'tasks.db')}`, String(port)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  if (!child.stdout) throw new Error('no output to read');
  for await (const url of createInterface({ input: child.stdout })) return { url, kill };
  throw new Error('the server did not start');
}

describe('the tasks of a session', () => {
  async function session(options: AgentMcpServerOptions) {
    const agent = await SkilledAgent.start();
    onTestFinished(() => agent[Symbol.asyncDispose]());
    const server = mcpServerOf(await connect(agent.url), options);
    const client = new Client({ name: 'test', version: '1' });
    const [one, other] = InMemoryTransport.createLinkedPair();
    await server.connect(one);
    await client.connect(other);
    onTestFinished(() => client.close());
    return { agent, client };
  }

  it('have a greatest number: ended ones give way, running ones do not', async () => {
    const { client } = await session({ tasks: 2 });
    const ended = await taskOf(client, 'hello');
    await vi.waitFor(async () => expect(await stateOf(client, ended.taskId)).toBe('completed'), 15_000);
    const [first, second] = [await taskOf(client, 'hold'), await taskOf(client, 'hold')];
    await expect(stateOf(client, ended.taskId)).rejects.toThrow('Task not found');
    await expect(taskOf(client, 'hold')).rejects.toThrow('Too many tasks; a session has at most 2.');
    const { tasks } = await client.experimental.tasks.listTasks();
    expect(tasks.map(({ taskId }) => taskId)).toEqual([first.taskId, second.taskId]);
  });

  it('are forgotten after their time, which has a limit', async () => {
    const { client } = await session({ taskMs: 1_500 });
    const long = await taskOf(client, 'hold', {}, 3_600_000);
    expect(long.ttl).toBe(1_500);
    expect((await taskOf(client, 'hold', {}, 1)).ttl).toBe(1_000);
    await vi.waitFor(async () => expect((await client.experimental.tasks.listTasks()).tasks).toEqual([]), 30_000);
    await expect(stateOf(client, long.taskId)).rejects.toThrow('Task not found');
  });

  it('are listed in pages', async () => {
    const { client } = await session({});
    const made: string[] = [];
    for (let number = 0; number < 45; number += 1) made.push((await taskOf(client, `say ${number}`)).taskId);
    const listed: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
      const page = await client.experimental.tasks.listTasks(cursor);
      listed.push(...page.tasks.map(({ taskId }) => taskId));
      cursor = page.nextCursor;
    }
    expect([listed, pages]).toEqual([made, 3]);
    await expect(client.experimental.tasks.listTasks('unknown')).rejects.toThrow('The cursor names no page');
  });
});
