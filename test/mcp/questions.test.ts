import { fileURLToPath } from 'node:url';
import type { AgentExecutor, Task } from 'parley-a2a';
import { MemoryStorage, systemClock, type TaskStorage } from 'parley-a2a/server';
import {
  answerQuestion,
  runTools,
  type ToolAnswer,
  ToolRegistry,
  type ToolRunOptions,
  toolCalls,
  toolQuestions,
} from 'parley-a2a/tools';
import { type McpTools, type McpToolsOptions, mcpTools } from 'parley-a2a-mcp';
import { assertAllProtocolInvariants, crashAndResume, EventCollector } from 'parley-a2a-testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { servedAgent } from './served-agent.js';

const SCRIPT = fileURLToPath(new URL('tools-server.mjs', import.meta.url));

async function openTools(options: Partial<McpToolsOptions> = {}): Promise<McpTools> {
  const tools = await mcpTools({ name: 'desk', command: process.execPath, args: [SCRIPT], ...options });
  onTestFinished(() => tools.close());
  return tools;
}

/** An agent that calls the tool that its prompt names. */
function caller(tools: McpTools, options: ToolRunOptions = {}): AgentExecutor {
  return {
    resumable: true,
    execute: (context, events) =>
      runTools(
        context,
        events,
        new ToolRegistry(tools.tools),
        async (run) => {
          const [name, ...more] = run.text.split(' ');
          const input = Object.fromEntries(more.map((word) => [word, true]));
          const results = await Promise.all((name ?? '').split('+').map((one) => run.call(`desk_${one}`, input)));
          await events.complete(results.join());
        },
        options,
      ),
  };
}

async function serveAgent(agent: AgentExecutor, storage?: TaskStorage) {
  const { server, client, send } = await servedAgent(agent, storage);
  const answer = (task: Task, given: ToolAnswer) => send({ message: answerQuestion(task, given) });
  const say = ({ id: taskId }: Task, text: string) => send({ message: { taskId, parts: [{ text }] } });
  return { server, client, send, answer, say };
}

const statusText = ({ status: { state, message } }: Task) => {
  const text = (message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');
  return `${state.slice('TASK_STATE_'.length)}: ${text}`;
};

describe('a question of an MCP server within a task', () => {
  it('is INPUT_REQUIRED with its form, and the answers go back to the server', async () => {
    const { send, answer } = await serveAgent(caller(await openTools()));
    const asked = await send('book');
    expect(statusText(asked)).toBe(
      'INPUT_REQUIRED: desk_book asks:\n\nWhich room?\n\n- city (string; required): Town\n- nights (integer; required)\n\n' +
        'Answer with a JSON object of these fields, or with no to decline.',
    );
    expect(toolQuestions(asked)).toMatchObject([
      { callId: '1.1', tool: 'desk_book', message: 'Which room?', schema: { required: ['city', 'nights'] } },
    ]);
    expect(toolCalls(asked)).toMatchObject([{ state: 'requested', question: { message: 'Which room?' } }]);
    const sure = await answer(asked, { action: 'accept', content: { city: 'Paris', nights: 2 } });
    expect(statusText(sure)).toContain('Book 2 nights in Paris?');
    const done = await answer(sure, { action: 'accept', content: { sure: true } });
    expect(statusText(done)).toBe('COMPLETED: Booked Paris');
    expect(toolCalls(done)).toMatchObject([{ tool: 'desk_book', state: 'succeeded', output: 'Booked Paris' }]);
    expect(toolCalls(done)[0]).not.toHaveProperty('question');
  });

  it('takes a text for one field and JSON for several, and asks again if an answer does not fit', async () => {
    const { send, say } = await serveAgent(caller(await openTools()));
    const asked = await send('book');
    const again = await say(asked, 'Paris please');
    expect(statusText(again)).toContain('INPUT_REQUIRED: The answer does not fit: answer with a JSON object');
    expect(statusText(await say(asked, '{"city":"Paris","nights":0}'))).toContain(
      'The answer does not fit: nights: must be',
    );
    expect(statusText(await say(asked, '{"city":"Paris","nights":3}'))).toContain('Book 3 nights in Paris?');
    expect(statusText(await say(asked, 'maybe'))).toContain('The answer does not fit: sure: must be boolean');
    const done = await say(asked, 'yes');
    expect(statusText(done)).toBe('COMPLETED: Booked Paris');
    expect(toolCalls(done)).toHaveLength(1);
  });

  it('can be declined', async () => {
    const { send, say, answer } = await serveAgent(caller(await openTools()));
    expect(statusText(await say(await send('book'), 'no'))).toBe('COMPLETED: No room: decline');
    expect(statusText(await answer(await send('book'), { action: 'cancel' }))).toBe('COMPLETED: No room: cancel');
  });

  it('ends the call if the server asks for ever', async () => {
    const { send, say } = await serveAgent(caller(await openTools(), { limits: { questionsPerCall: 3 } }));
    let task = await send('forever');
    for (const word of ['a', 'b']) task = await say(task, word);
    expect(statusText(task)).toContain('Question 3');
    expect(statusText(await say(task, 'c'))).toBe('FAILED: desk_forever asked more than 3 questions.');
    // The same question again has the next answer, not the first one.
    const same = await send('forever same');
    expect(statusText(await say(same, 'a'))).toContain('INPUT_REQUIRED: desk_forever asks:\n\nQuestion ');
  });

  it('ends a call of a server that goes on asking after its question is dismissed or answered', async () => {
    const { send } = await serveAgent(caller(await openTools(), { limits: { questionsPerCall: 0 } }));
    expect(statusText(await send('forever stubborn'))).toBe('FAILED: desk_forever asked more than 0 questions.');
    const answering = await serveAgent(caller(await openTools({ elicit: () => ({ value: 'x' }) })));
    expect(statusText(await answering.send('forever'))).toBe(
      'FAILED: The server asked more than 100 questions in one call.',
    );
  });

  it('waits for its own call if others run at the same time', async () => {
    const { send, say } = await serveAgent(caller(await openTools()));
    const other = await send('ask+picture');
    expect(statusText(other)).toContain('desk_ask asks:\n\nWhich city?');
    expect(toolCalls(other).map(({ tool, state }) => `${tool} ${state}`)).toEqual([
      'desk_ask requested',
      'desk_picture succeeded',
    ]);
    expect(statusText(await say(other, 'Rome'))).toContain('COMPLETED: It rains in Rome');
  });

  it('is never given to another call: calls that ask at once as the first ones are asked together', async () => {
    const { send, answer } = await serveAgent(caller(await openTools()));
    const asked = await send('ask+book');
    expect(toolQuestions(asked).map(({ callId, tool, message }) => `${callId} ${tool} ${message}`)).toEqual([
      '1.1 desk_ask Which city?',
      '1.2 desk_book Which room?',
    ]);
    const city = { action: 'accept', content: { city: 'Rome' } } as const;
    const room = { action: 'accept', content: { city: 'Paris', nights: 2 } } as const;
    const rest = await send({ message: answerQuestion(asked, city, { callId: '1.1' }) });
    expect(toolQuestions(rest)).toMatchObject([{ callId: '1.2', message: 'Which room?' }]);
    const sure = await answer(rest, room);
    const done = await answer(sure, { action: 'accept', content: { sure: true } });
    expect(statusText(done)).toBe('COMPLETED: It rains in Rome,Booked Paris');
    expect(toolCalls(done).map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
  });

  it('of three calls at once is answered for each of them by one message', async () => {
    const { send } = await serveAgent(caller(await openTools()));
    const asked = await send('ask+ask+ask');
    const parts = toolQuestions(asked).flatMap(
      ({ callId }, at) => answerQuestion(asked, { action: 'accept', content: { city: `C${at}` } }, { callId }).parts,
    );
    expect(parts).toHaveLength(3);
    const done = await send({ message: { taskId: asked.id, parts } });
    expect(statusText(done)).toBe('COMPLETED: It rains in C0,It rains in C1,It rains in C2');
  });

  it('is answered in another process after a takeover', async () => {
    const storage = new MemoryStorage({ clock: systemClock });
    const one = await serveAgent(caller(await openTools()), storage);
    const asked = await one.send('book');
    await one.server.close({ graceMs: 0 });
    const { answer } = await serveAgent(caller(await openTools()), storage);
    const sure = await answer(asked, { action: 'accept', content: { city: 'Oslo', nights: 1 } });
    expect(statusText(await answer(sure, { action: 'accept', content: { sure: true } }))).toBe(
      'COMPLETED: Booked Oslo',
    );
  });

  it('is asked once more, without a call, if the process dies before the task waits', async () => {
    const first = await openTools();
    const second = await openTools();
    // A call in the second process would need the server.
    await second.close();
    const { task, secondAttempt } = await crashAndResume(caller(first), 'book', {
      at: (event) => JSON.stringify(event).includes('Which room?'),
      restart: () => caller(second),
      compare: false,
    });
    expect(statusText(task)).toContain('INPUT_REQUIRED: desk_book asks:');
    expect(JSON.stringify(secondAttempt)).not.toContain('running');
  });

  it('fails its call if the process dies while the server works, because the effect is not known', async () => {
    const first = await openTools();
    const { task } = await crashAndResume(caller(first), 'book', {
      at: (event) => JSON.stringify(event).includes('"running"'),
      restart: () => caller(first),
      compare: false,
    });
    expect(statusText(task)).toBe(
      'FAILED: desk_book was interrupted, and must not run again. Its effect is not known.',
    );
  });

  it('follows the rules of turns and calls', async () => {
    const { client } = await serveAgent(caller(await openTools()));
    const events = new EventCollector(client.sendStreamingMessage('ask'));
    await events.waitForEnd();
    assertAllProtocolInvariants(events);
  });

  it('is not allowed with elicit: false', async () => {
    const { send } = await serveAgent(caller(await openTools({ elicit: false })));
    expect(statusText(await send('ask'))).toMatch(/^FAILED: .*desk_ask/);
  });
});
