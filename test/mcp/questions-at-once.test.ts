import { fileURLToPath } from 'node:url';
import type { AgentExecutor, Task } from 'parley-a2a';
import { MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';
import {
  answerApprovals,
  answerQuestion,
  runTools,
  ToolRegistry,
  toolApprovals,
  toolCalls,
  toolQuestions,
} from 'parley-a2a/tools';
import { type McpTools, type McpToolsOptions, mcpTools } from 'parley-a2a-mcp';
import { crashAndResume } from 'parley-a2a-testing';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { HttpTools } from './http-tools.js';
import { servedAgent } from './served-agent.js';

const SCRIPT = fileURLToPath(new URL('tools-server.mjs', import.meta.url));

async function openTools(way: Way, options: Partial<McpToolsOptions> = {}): Promise<McpTools> {
  const http = way === 'stdio' ? undefined : await HttpTools.start();
  const place = http === undefined ? { command: process.execPath, args: [SCRIPT] } : { url: http.url };
  const tools = await mcpTools({ name: 'desk', ...place, ...options });
  onTestFinished(async () => {
    await tools.close();
    await http?.[Symbol.asyncDispose]();
  });
  return tools;
}

const WAYS = ['stdio', 'streamable HTTP'] as const;
type Way = (typeof WAYS)[number];

/** An agent that makes the calls of its prompt at the same time, as `tool,argument+tool`. */
function caller({ tools }: McpTools): AgentExecutor {
  return {
    resumable: true,
    execute: (context, events) =>
      runTools(context, events, new ToolRegistry(tools), async (run) => {
        const results = run.text.split('+').map((call) => {
          const [name, ...words] = call.split(',');
          return run.call(`desk_${name}`, Object.fromEntries(words.map((word) => [word, true])));
        });
        await events.complete((await Promise.all(results)).join());
      }),
  };
}

async function serveAgent(agent: AgentExecutor, storage?: TaskStorage) {
  const { server, client, send } = await servedAgent(agent, storage);
  const answer = (task: Task, name: string, value: string) =>
    send({ message: answerQuestion(task, { action: 'accept', content: { [name]: value } }) });
  return { server, client, send, answer };
}

/** The calls of a task in the order of their ids. */
const outcomes = (task: Task) =>
  toolCalls(task)
    .toSorted((one, other) => one.id.localeCompare(other.id))
    .map(({ tool, state, output }) => [tool, state, output ?? null]);
const questions = (task: Task) => toolQuestions(task).map(({ callId, message }) => `${callId} ${message}`);
/** The runs of the tools in the server, counted by the server. */
const runs = ({ tools }: McpTools) => new ToolRegistry(tools).execute('desk_runs', {});

describe.each(WAYS)('a call that asks two questions at once, over %s', (way) => {
  it('is asked both, and the call that runs beside it runs once', async () => {
    const tools = await openTools(way);
    const { send, answer } = await serveAgent(caller(tools));
    const asked = await send('trip+beside');
    expect(questions(asked)).toEqual(['1.1 Which city?']);
    expect(outcomes(asked)).toEqual([
      ['desk_trip', 'requested', null],
      ['desk_beside', 'succeeded', 'ran 1'],
    ]);
    const day = await answer(asked, 'city', 'Rome');
    expect(questions(day)).toEqual(['1.1 Which day?']);
    const done = await answer(day, 'day', 'Monday');
    expect(outcomes(done)).toEqual([
      ['desk_trip', 'succeeded', 'Rome on Monday'],
      ['desk_beside', 'succeeded', 'ran 1'],
    ]);
    expect(await runs(tools)).toBe('3 trips, 1 besides');
  });

  it('waits beside an approval. Both are answered in any order, or by one message', async () => {
    const tools = await openTools(way, { needsApproval: (name) => name === 'beside' });
    const { send, answer } = await serveAgent(caller(tools));
    const askBoth = async () => {
      const asked = await send('trip+beside');
      expect(questions(asked)).toEqual(['1.1 Which city?']);
      expect(toolApprovals(asked)).toMatchObject([{ callId: '1.2', tool: 'desk_beside' }]);
      return asked;
    };
    const approved = await send({ message: answerApprovals(await askBoth(), 'approve') });
    expect(questions(approved)).toEqual(['1.1 Which city?']);
    expect(outcomes(approved)[1]).toEqual(['desk_beside', 'succeeded', 'ran 1']);
    expect(await runs(tools)).toBe('1 trips, 1 besides');
    const done = await answer(await answer(approved, 'city', 'Rome'), 'day', 'Monday');
    expect(outcomes(done).map(([, , output]) => output)).toEqual(['Rome on Monday', 'ran 1']);
    expect(await runs(tools)).toBe('3 trips, 1 besides');

    const day = await answer(await askBoth(), 'city', 'Rome');
    expect([questions(day), toolApprovals(day).length]).toEqual([['1.1 Which day?'], 1]);
    const city = answerQuestion(day, { action: 'accept', content: { day: 'Friday' } });
    const parts = [...city.parts, ...answerApprovals(day, 'approve').parts];
    const both = await send({ message: { taskId: day.id, parts } });
    expect(outcomes(both).map(([, , output]) => output)).toEqual(['Rome on Friday', 'ran 2']);
    expect(await runs(tools)).toBe('6 trips, 2 besides');
  });

  it('is canceled while it waits, and does not run again', async () => {
    const tools = await openTools(way);
    const { client, send, answer } = await serveAgent(caller(tools));
    const asked = await send('trip+beside');
    expect((await client.cancelTask({ id: asked.id })).status.state).toBe('TASK_STATE_CANCELED');
    await expect(answer(asked, 'city', 'Rome')).rejects.toThrow();
    expect(await runs(tools)).toBe('1 trips, 1 besides');
    expect(questions(await send('trip'))).toEqual(['1.1 Which city?']);
  });

  it('fails at its timeout if the server does not end it, and the call beside it runs once', async () => {
    const tools = await openTools(way, { timeoutMs: 8_000 });
    const { send } = await serveAgent(caller(tools));
    const failed = await send('trip,deaf+beside');
    expect(failed.status.state).toBe('TASK_STATE_FAILED');
    expect(toolCalls(failed)[0]).toMatchObject({ state: 'failed', failure: { reason: 'timeout' } });
    // Over standard input and output, the server that may still ask for the trip has ended.
    expect(await runs(tools)).toMatch(way === 'stdio' ? '0 trips, 0 besides' : /^1 trips, [01] besides$/);
    expect(questions(await send('trip'))).toEqual(['1.1 Which city?']);
  });

  it('is asked again after a crash, and a call that has its result does not run again', async () => {
    const tools = await openTools(way);
    let seen = '';
    const { task } = await crashAndResume(caller(tools), 'trip+beside', {
      at: (event) => {
        seen += JSON.stringify(event);
        return seen.includes('Which city?') && seen.includes('ran 1');
      },
      restart: () => caller(tools),
      compare: false,
    });
    expect(questions(task)).toEqual(['1.1 Which city?']);
    expect(await runs(tools)).toBe('1 trips, 1 besides');
  });
});

describe.each(['memory', 'SQLite'])('two questions at once of a task in %s', (kind) => {
  const files = new SqliteFiles();
  afterAll(() => files.remove());

  it('are answered after a takeover, and no finished call runs again', async () => {
    const path = files.fresh();
    const memory = new MemoryStorage({ clock: systemClock });
    const storage = async () => (kind === 'memory' ? memory : await files.open(systemClock, { path }));
    const before = await openTools('stdio');
    const old = await storage();
    const first = await serveAgent(caller(before), old);
    const asked = await first.send('trip+beside');
    expect(await runs(before)).toBe('1 trips, 1 besides');
    await first.server.close({ graceMs: 0 });
    if (old !== memory) await old.close();
    const after = await openTools('stdio');
    const storageAfter = await storage();
    onTestFinished(() => storageAfter.close());
    const { answer } = await serveAgent(caller(after), storageAfter);
    const done = await answer(await answer(asked, 'city', 'Rome'), 'day', 'Monday');
    expect(outcomes(done).map(([, , output]) => output)).toEqual(['Rome on Monday', 'ran 1']);
    expect(await runs(after)).toBe('2 trips, 0 besides');
  });
});

describe('calls of a server that asks', () => {
  it('run side by side over streamable HTTP, also after a question', async () => {
    const { send } = await serveAgent(caller(await openTools('streamable HTTP')));
    for (const number of [1, 2]) {
      // Each of them waits for the other one.
      const asked = await send('trip,late+beside,along');
      expect(questions(asked)).toEqual(['1.1 Which city?']);
      expect(outcomes(asked)[1]).toEqual(['desk_beside', 'succeeded', `ran ${number}`]);
    }
  });

  it('are not repeated if questions do not tell their calls: these questions are dismissed', async () => {
    const tools = await openTools('streamable HTTP');
    const { send } = await serveAgent(caller(tools));
    const done = await send('trip,late,loose+beside,along');
    expect(outcomes(done)).toEqual([
      ['desk_trip', 'succeeded', 'No trip: cancel cancel'],
      ['desk_beside', 'succeeded', 'ran 1'],
    ]);
    expect(await runs(tools)).toBe('1 trips, 1 besides');
    // From then on calls run one after another.
    const asked = await send('trip,loose+beside');
    expect(questions(asked)).toEqual(['1.1 Which city?']);
    expect(await runs(tools)).toBe('2 trips, 2 besides');
  });

  it('run side by side if they are idempotent, and again if their questions cannot be told apart', async () => {
    const tools = await openTools('stdio', { idempotent: (name) => name !== 'runs' });
    const { send } = await serveAgent(caller(tools));
    const asked = await send('trip,after+beside');
    expect(questions(asked)).toEqual(['1.1 Which city?']);
    expect(outcomes(asked)[1]).toEqual(['desk_beside', 'succeeded', 'ran 2']);
    expect(await runs(tools)).toBe('2 trips, 2 besides');
  });

  it('end together if their turn is canceled while questions wait', async () => {
    const { client, send } = await serveAgent(caller(await openTools('streamable HTTP')));
    const events = client.sendStreamingMessage('trip,late,loose+beside,along+hang+hang');
    let id = '';
    for await (const event of events) {
      if (event.task !== undefined) id = event.task.id;
      if (event.statusUpdate !== undefined) id = event.statusUpdate.taskId;
      if (JSON.stringify(event).includes('"running"') && id !== '') break;
    }
    expect((await client.cancelTask({ id })).status.state).toBe('TASK_STATE_CANCELED');
    // Its question may be dismissed, because it could be one of the canceled calls.
    await send('trip,loose');
    expect(questions(await send('trip'))).toEqual(['1.1 Which city?']);
  });

  it('over streamable HTTP get no question of a call that is over', async () => {
    const tools = await openTools('streamable HTTP');
    const { client, send } = await serveAgent(caller(tools));
    const over = await client.sendMessage({ message: 'trip,tardy', configuration: { returnImmediately: true } });
    if (over.task === undefined) throw new Error('There is no task');
    const other = send('beside,along');
    await expect.poll(() => runs(tools)).toBe('1 trips, 1 besides');
    // Now the server asks. The other call ends once it has an answer.
    await client.cancelTask({ id: over.task.id });
    expect(outcomes(await other)).toEqual([['desk_beside', 'succeeded', 'ran 1']]);
    expect(await runs(tools)).toBe('1 trips, 1 besides');
  });

  it('over standard input and output get no question of a call that is over', async () => {
    const tools = await openTools('stdio');
    const { client, send } = await serveAgent(caller(tools));
    const over = await client.sendMessage({ message: 'trip,tardy,late', configuration: { returnImmediately: true } });
    if (over.task === undefined) throw new Error('There is no task');
    const { id } = over.task;
    await expect.poll(async () => toolCalls(await client.getTask({ id }))[0]?.state).toBe('running');
    await client.cancelTask({ id });
    // The server asks for the trip while this call runs.
    expect(outcomes(await send('beside,along'))).toEqual([['desk_beside', 'succeeded', 'ran 1']]);
    // The next call has a server of its own, which asks for nothing else.
    expect(questions(await send('trip'))).toEqual(['1.1 Which city?']);
    expect(await runs(tools)).toBe('1 trips, 0 besides');
  });
});
