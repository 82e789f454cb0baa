import { connect, createA2AServer, type Task } from 'parley-a2a';
import { ApiKeys } from 'parley-a2a/auth';
import { apiKey } from 'parley-a2a/credentials';
import {
  answerApprovals,
  defineTool,
  jsonSchema,
  type Tool,
  type ToolListener,
  ToolRegistry,
  type ToolRun,
  type ToolRunOptions,
  toolAgent,
  toolApprovals,
  toolCalls,
} from 'parley-a2a/tools';
import { describe, expect, it, onTestFinished } from 'vitest';

const any = jsonSchema<unknown>({});
const statusText = ({ status }: Task) =>
  (status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');

async function serveTools(
  tools: readonly Tool[],
  body: (run: ToolRun) => Promise<string>,
  options: ToolRunOptions = {},
) {
  const agent = toolAgent(
    new ToolRegistry(tools),
    async (run, { events }) => events.complete(await body(run)),
    options,
  );
  const server = createA2AServer({ agent });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const client = await connect((await server.listen(0)).url);
  return async (message: string): Promise<Task> => {
    const answer = await client.ask(message);
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
}

/** The ends of calls, as their reasons. */
async function reasons(calls: readonly Promise<unknown>[]): Promise<string> {
  const settled = await Promise.allSettled(calls);
  return settled.map((one) => (one.status === 'rejected' ? (one.reason.reason ?? 'not typed') : 'ok')).join(' ');
}

const nestArrays = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const circle: Record<string, unknown> = {};
circle.self = circle;
const throwing = {
  get secret() {
    throw new Error('pl4nted-s3cret');
  },
};
let reads = 0;
const changing = {
  get value() {
    reads += 1;
    return reads > 1 ? () => reads : 1;
  },
};

describe('hostile arguments', () => {
  it('end their own call with a reason, and the task goes on', async () => {
    const tool = defineTool({ name: 'tool', input: any, idempotent: true, run: () => 'ran' });
    const inputs = [
      'x'.repeat(10_000_000),
      nestArrays(65),
      nestArrays(50_000),
      circle,
      throwing,
      changing,
      1n,
      undefined,
    ];
    const send = await serveTools([tool], async (run) => {
      const calls = [
        run.call('no such tool', 1),
        ...inputs.map((input) => run.call('tool', input)),
        run.call('tool', 1),
      ];
      return reasons(calls);
    });
    const task = await send('go');
    const bad = 'invalid_input';
    // A member that changes with each read is read once.
    expect(statusText(task)).toBe(`unknown_tool limit ${bad} ${bad} ${bad} ${bad} ok ${bad} ${bad} ok`);
    expect(toolCalls(task)[6]).toMatchObject({ state: 'succeeded', input: { value: 1 } });
    expect(JSON.stringify(task)).not.toContain('pl4nted-s3cret');
    expect(JSON.stringify(task).length).toBeLessThan(10_000);
    expect(toolCalls(task).filter(({ state }) => state === 'failed')).toHaveLength(8);
  });

  it('of 10,000 calls at once run up to the limits', async () => {
    let running = 0;
    let most = 0;
    const tool = defineTool({
      name: 'tool',
      input: any,
      idempotent: true,
      run: async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => setImmediate(resolve));
        running -= 1;
      },
    });
    const send = await serveTools([tool], async (run) => {
      const ends = (await reasons(Array.from({ length: 10_000 }, (_, at) => run.call('tool', at)))).split(' ');
      return `${ends.filter((end) => end === 'ok').length} ${ends.filter((end) => end === 'limit').length}`;
    });
    const task = await send('go');
    expect([statusText(task), toolCalls(task).length, most]).toEqual(['1000 9000', 1_000, 8]);
  });

  it('with the id of another call do not run, and the first call keeps its result', async () => {
    const ran: unknown[] = [];
    const tool = defineTool({ name: 'tool', input: any, run: (input) => ran.push(input) });
    const send = await serveTools([tool], async (run) => {
      const names = ['one', 'two', 'one'];
      const calls = () => reasons(names.map((input) => run.call('tool', input, { id: 'c' })));
      return `${await calls()}, ${await calls()}`;
    });
    expect(statusText(await send('go'))).toBe('ok conflict ok, ok conflict ok');
    expect(ran).toEqual(['one']);
  });
});

describe('the record of a call', () => {
  it('stays as it is, whatever the agent, its tool and its listener do with their objects', async () => {
    type Book = { title: string; tags: string[] };
    const held: Book[] = [];
    const hold = (book: unknown) => held.push(book as Book);
    const tool = defineTool({
      name: 'tool',
      input: any,
      idempotent: true,
      run: (input) => {
        const result: Book = { title: 'result', tags: ['a'] };
        hold(input);
        hold(result);
        return result;
      },
    });
    const onEvent: ToolListener = ({ call }) => [call.input, call.output].forEach(hold);
    const body = async (run: ToolRun) => {
      const input: Book = { title: 'input', tags: ['a'] };
      hold(input);
      hold(await run.call('tool', input, { id: 'c' }));
      for (const call of run.calls) [call.input, call.output].forEach(hold);
      hold(await run.call('tool', { title: 'input', tags: ['a'] }, { id: 'c' }));
      for (const book of held) {
        book.title = 'changed';
        book.tags.push('changed');
      }
      return JSON.stringify(await run.call('tool', { title: 'input', tags: ['a'] }, { id: 'c' }));
    };
    const task = await (await serveTools([tool], body, { onEvent }))('go');
    const output = { title: 'result', tags: ['a'] };
    expect(held).toHaveLength(9);
    expect(statusText(task)).toBe(JSON.stringify(output));
    expect(toolCalls(task)).toEqual([
      { id: 'c', tool: 'tool', state: 'succeeded', input: { title: 'input', tags: ['a'] }, output },
    ]);
  });

  it('holds no text that is no Unicode: such an id fails its task', async () => {
    const tool = defineTool({ name: 'tool', input: any, idempotent: true, run: () => 'ran' });
    const send = await serveTools([tool], (run) => reasons([run.call('tool', 1, { id: '\ud800' })]));
    const { status, artifacts } = await send('go');
    expect([status.state, artifacts]).toEqual(['TASK_STATE_FAILED', undefined]);
  });
});

describe('hostile results', () => {
  it('end their own call with a reason', async () => {
    const results: Record<string, unknown> = {
      huge: 'x'.repeat(10_000_000),
      deep: nestArrays(65),
      circle,
      throwing,
      bigint: 1n,
      late: Promise.resolve(circle),
    };
    const tool = defineTool({ name: 'tool', input: jsonSchema<string>({}), run: (name) => results[name] });
    const send = await serveTools([tool], (run) => reasons(Object.keys(results).map((name) => run.call('tool', name))));
    const task = await send('go');
    expect(statusText(task)).toBe('limit invalid_output invalid_output threw invalid_output invalid_output');
    expect(JSON.stringify(task)).not.toContain('pl4nted-s3cret');
  });
});

describe('an approval', () => {
  it('of another caller does not find the task, and one for what was asked before does not count', async () => {
    const ran: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      input: jsonSchema<string>({ type: 'string' }),
      needsApproval: true,
      run: (to) => ran.push(to),
    });
    const agent = toolAgent(new ToolRegistry([pay]), async (run, { events }) => {
      await run.call('pay', run.text);
      await events.complete();
    });
    const authenticator = new ApiKeys(['ada', 'eve'].map((subject) => ({ key: `key-of-${subject}`, subject })));
    const server = createA2AServer({ agent, authenticator });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen(0);
    const [ada, eve] = await Promise.all(
      ['ada', 'eve'].map((name) => connect(url, { credentials: apiKey(`key-of-${name}`) })),
    );
    if (!ada || !eve) throw new Error('no clients');
    const send = async (message: Parameters<typeof ada.ask>[0]) => {
      const answer = await ada.ask(message);
      if (answer.task === undefined) throw new Error('no task');
      return answer.task;
    };
    const asked = await send('to Bob');
    await expect(eve.ask({ message: answerApprovals(asked, 'approve') })).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    });
    // Another message replaces the question. Its call has an id of its own, so an answer to the old one is stray.
    const changed = await send({ message: { taskId: asked.id, parts: [{ text: 'to Eve' }] } });
    expect(toolApprovals(changed)).toMatchObject([{ callId: '2.1', input: 'to Eve' }]);
    const stray = await send({ message: answerApprovals(asked, 'approve') });
    expect([stray.status.state, toolApprovals(stray)]).toMatchObject([
      'TASK_STATE_INPUT_REQUIRED',
      [{ callId: '2.1' }],
    ]);
    expect(ran).toEqual([]);
  });
});
