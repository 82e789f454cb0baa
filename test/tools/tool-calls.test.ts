import { Agent } from '@openai/agents';
import { type AgentExecutor, type AgentExtension, connect, createA2AServer, type Message, type Task } from 'parley-a2a';
import { MemoryStorage, systemClock } from 'parley-a2a/server';
import {
  answerApprovals,
  defineTool,
  jsonSchema,
  runTools,
  TOOLS_CARD_EXTENSION,
  TOOLS_EXTENSION,
  type Tool,
  ToolError,
  type ToolEvent,
  ToolRegistry,
  type ToolRun,
  type ToolRunOptions,
  toolAgent,
  toolApprovals,
  toolCalls,
  toolEventsOf,
} from 'parley-a2a/tools';
import { streamTextAgent } from 'parley-a2a-ai-sdk';
import { capnwebBinding, connectCapnweb } from 'parley-a2a-capnweb';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';

/** The runs of the tools of a shop. */
class Shop {
  readonly orders: string[] = [];
  readonly stock = defineTool({
    name: 'stock',
    input: z.object({ title: z.string() }),
    output: z.number(),
    idempotent: true,
    run: ({ title }) => title.length,
  });
  readonly order = defineTool({
    name: 'order',
    input: z.object({ title: z.string() }),
    output: z.object({ order: z.number() }),
    needsApproval: true,
    run: ({ title }) => ({ order: this.orders.push(title) }),
  });
}

/** A server whose agent runs a body with tools, and a client of it. */
async function serveTools(
  tools: readonly Tool[],
  body: (run: ToolRun) => Promise<string>,
  options: ToolRunOptions = {},
) {
  const executor: AgentExecutor = {
    resumable: true,
    execute: (context, events) =>
      runTools(
        context,
        events,
        new ToolRegistry(tools),
        async (run) => {
          await events.complete(await body(run));
        },
        options,
      ),
  };
  const server = createA2AServer({ agent: executor, bindings: [capnwebBinding()] });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const client = await connect(url);
  const send = async (message: string | (Partial<Message> & Pick<Message, 'parts'>)): Promise<Task> => {
    const answer = await client.ask({ message });
    if (answer.task === undefined) throw new Error('no task');
    return answer.task;
  };
  return { url, client, send };
}

const statusText = ({ status }: Task) =>
  (status.message?.parts ?? []).map((part) => (part.text !== undefined ? part.text : '')).join('');
const states = (task: Task) => toolCalls(task).map(({ tool, state }) => `${tool} ${state}`);

describe('calls of tools in a turn', () => {
  it('are recorded with their results, and told to the agent', async () => {
    const shop = new Shop();
    const told: ToolEvent[] = [];
    const { send } = await serveTools(
      [shop.stock],
      async (run) => {
        const [dune, emma] = await Promise.all([
          run.call(shop.stock, { title: 'Dune' }),
          run.call(shop.stock, { title: 'Emma!' }),
        ]);
        return `${dune + emma}`;
      },
      { onEvent: (event) => told.push(event) },
    );
    const task = await send('what is there?');
    expect(statusText(task)).toBe('9');
    expect(toolCalls(task)).toEqual([
      { id: '1.1', tool: 'stock', state: 'succeeded', input: { title: 'Dune' }, output: 4 },
      { id: '1.2', tool: 'stock', state: 'succeeded', input: { title: 'Emma!' }, output: 5 },
    ]);
    expect(told.map(({ taskId, call }) => [taskId, call.state])).toEqual(
      Array.from({ length: 2 }, () => [task.id, 'succeeded']),
    );
  });

  it('fail the task with their reason, and show no internals', async () => {
    const broken = defineTool({
      name: 'broken',
      input: z.string(),
      run: () => Promise.reject(new Error('db://secret')),
    });
    const sold = defineTool({ name: 'sold', input: z.string(), run: () => Promise.reject(new ToolError('Sold out.')) });
    const { send } = await serveTools([broken, sold], async (run) => `${await run.call(run.text, 'x')}`);
    for (const [tool, message] of [
      ['broken', 'broken failed.'],
      ['sold', 'Sold out.'],
      ['none', 'There is no tool none.'],
    ] as const) {
      const task = await send(tool);
      expect([task.status.state, statusText(task)]).toEqual(['TASK_STATE_FAILED', message]);
      expect(toolCalls(task)).toMatchObject([{ tool, state: 'failed', failure: { message } }]);
      expect(JSON.stringify(task)).not.toContain('secret');
    }
  });

  it('refuse arguments, results and numbers beyond their limits', async () => {
    const echo = defineTool({ name: 'echo', input: z.string(), idempotent: true, run: (text) => text.repeat(10) });
    const body = async (run: ToolRun) => {
      const calls = run.text.split(' ').map((word) => run.call(echo, word));
      const results = await Promise.allSettled(calls);
      return results.map((result) => (result.status === 'rejected' ? result.reason.reason : 'ok')).join(' ');
    };
    const { send } = await serveTools([echo], body, { limits: { inputBytes: 10, outputBytes: 50, callsPerTask: 3 } });
    const task = await send('a abcdefghijkl abcdef b c');
    expect(statusText(task)).toBe('ok limit limit limit limit');
    expect(toolCalls(task)).toHaveLength(3);
  });

  it('run side by side up to a limit', async () => {
    let running = 0;
    let most = 0;
    const slow = defineTool({
      name: 'slow',
      input: z.number(),
      run: async (at) => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => setImmediate(resolve));
        running -= 1;
        return at;
      },
    });
    const body = async (run: ToolRun) =>
      (await Promise.all(Array.from({ length: 9 }, (_, at) => run.call(slow, at)))).join('');
    const { send } = await serveTools([slow], body, { limits: { parallelCalls: 3 } });
    expect(statusText(await send('go'))).toBe('012345678');
    expect(most).toBe(3);
  });
});

it('a call that must not repeat waits for the commit of its beginning, and not for that of its result', async () => {
  const ended = Promise.withResolvers<void>();
  const committed: string[] = [];
  class SlowStorage extends MemoryStorage {
    override async append(append: Parameters<MemoryStorage['append']>[0]) {
      const states = append.records.flatMap(({ event }) => toolEventsOf(event)).map(({ call }) => call.state);
      if (states.includes('succeeded')) await ended.promise;
      const outcome = await super.append(append);
      committed.push(...states);
      return outcome;
    }
  }
  const charge = defineTool({ name: 'charge', input: z.string(), run: () => [...committed] });
  const agent = toolAgent(new ToolRegistry([charge]), async (run, { events }) => {
    const before = await run.call(charge, 'x');
    ended.resolve();
    await events.complete(`${before}`);
  });
  const server = createA2AServer({ agent, storage: new SlowStorage({ clock: systemClock }) });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const answer = await (await connect((await server.listen(0)).url)).ask('go');
  if (answer.task === undefined) throw new Error('no task');
  expect([statusText(answer.task), committed]).toEqual(['running', ['running', 'succeeded']]);
});

describe('a call that does not end', () => {
  const createStuckTool = (timeoutMs: number) => {
    const signals: AbortSignal[] = [];
    const tool = defineTool({
      name: 'stuck',
      input: z.string(),
      timeoutMs,
      run: (_, { signal }) => {
        signals.push(signal);
        return new Promise<never>(() => {});
      },
    });
    return { tool, signals };
  };

  it('fails at its timeout', async () => {
    const { tool, signals } = createStuckTool(5);
    const { send } = await serveTools([tool], async (run) => `${await run.call(tool, 'x')}`);
    expect(statusText(await send('go'))).toBe('stuck took longer than 5 ms.');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('is told to stop when the task is canceled', async () => {
    const { tool, signals } = createStuckTool(60_000);
    const { client } = await serveTools([tool], async (run) => `${await run.call(tool, 'x')}`);
    for await (const event of client.sendStreamingMessage('go')) {
      const [running] = toolEventsOf(event);
      if (running?.call.state !== 'running' || running.taskId === undefined) continue;
      const { status } = await client.cancelTask(running.taskId);
      expect(status.state).toBe('TASK_STATE_CANCELED');
      break;
    }
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});

describe('a call that needs an approval', () => {
  const startShop = async () => {
    const shop = new Shop();
    const buy = async (run: ToolRun) => {
      const titles = run.text.replace('buy ', '').split(', ');
      await run.call(shop.stock, { title: titles.join() });
      const orders = await Promise.all(titles.map((title) => run.call(shop.order, { title })));
      return `${run.text}: ${orders.map(({ order }) => order).join()}`;
    };
    return { shop, ...(await serveTools([shop.stock, shop.order], buy)) };
  };

  it('asks the owner with its arguments, and runs after a yes', async () => {
    const { shop, send } = await startShop();
    const asked = await send('buy Dune');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(statusText(asked)).toBe(
      'This call needs your approval:\n\n1.2: order {"title":"Dune"}\n\nAnswer yes or no.',
    );
    expect(toolApprovals(asked)).toMatchObject([{ callId: '1.2', tool: 'order', input: { title: 'Dune' } }]);
    expect(shop.orders).toEqual([]);
    const done = await send({ taskId: asked.id, parts: [{ text: 'Yes.' }] });
    expect([done.status.state, statusText(done)]).toEqual(['TASK_STATE_COMPLETED', 'buy Dune: 1']);
    expect(shop.orders).toEqual(['Dune']);
    expect(states(done)).toEqual(['stock succeeded', 'order succeeded']);
  });

  it('is refused by a no, by a typed answer with a reason, and by any other message', async () => {
    const { shop, send } = await startShop();
    const first = await send('buy Dune');
    const no = await send({ taskId: first.id, parts: [{ text: 'no' }] });
    expect([no.status.state, statusText(no)]).toEqual(['TASK_STATE_FAILED', 'The call was refused.']);
    const second = await send('buy Dune');
    const refusal = { callId: '1.2', decision: 'refuse', reason: 'too dear' } as const;
    const typed = await send(answerApprovals(second, [refusal]));
    expect([states(typed)[1], statusText(typed)]).toEqual(['order refused', 'The call was refused: too dear']);
    const third = await send('buy Dune');
    const other = await send({ taskId: third.id, parts: [{ text: 'buy Emma' }] });
    expect(toolApprovals(other)).toMatchObject([{ callId: '2.2', input: { title: 'Emma' } }]);
    expect(states(other)).toEqual(['stock succeeded', 'order refused', 'stock succeeded', 'order requested']);
    expect(shop.orders).toEqual([]);
  });

  it('is answered with others at once, or one by one', async () => {
    const { shop, send } = await startShop();
    const both = await send('buy Dune, Emma');
    expect(toolApprovals(both)).toHaveLength(2);
    expect(statusText(await send(answerApprovals(both, 'approve')))).toBe('buy Dune, Emma: 1,2');
    const again = await send('buy Odes, Ulysses');
    const half = await send(answerApprovals(again, [{ callId: '1.3', decision: 'approve' }]));
    expect(toolApprovals(half)).toMatchObject([{ callId: '1.2' }]);
    expect(shop.orders).toEqual(['Dune', 'Emma', 'Ulysses']);
    expect(statusText(await send(answerApprovals(half, 'approve')))).toBe('buy Odes, Ulysses: 4,3');
    expect(shop.orders).toEqual(['Dune', 'Emma', 'Ulysses', 'Odes']);
  });

  it('does not run after an answer to another call, or a text that only contains a yes', async () => {
    const { shop, send } = await startShop();
    const approves = (callId: string) => [{ data: { toolApproval: { callId, decision: 'approve' } } }];
    expect((await send({ parts: [{ text: 'buy Dune' }, ...approves('1.2')] })).status.state).toBe(
      'TASK_STATE_INPUT_REQUIRED',
    );
    for (const parts of [approves('1.3'), [{ text: 'yes, but later' }], [{ text: 'yes' }, { data: 1 }]]) {
      const asked = await send('buy Dune');
      await send({ taskId: asked.id, parts });
    }
    expect(shop.orders).toEqual([]);
  });

  it('asks again after an answer to a call that has ended, and does not take it for a prompt', async () => {
    const { shop, send } = await startShop();
    const both = await send('buy Dune, Emma');
    const approves = answerApprovals(both, [{ callId: '1.2', decision: 'approve' }]);
    expect(toolApprovals(await send(approves))).toMatchObject([{ callId: '1.3' }]);
    const again = await send(approves);
    expect([again.status.state, toolApprovals(again)]).toMatchObject([
      'TASK_STATE_INPUT_REQUIRED',
      [{ callId: '1.3' }],
    ]);
    expect(shop.orders).toEqual(['Dune']);
    expect(statusText(await send(answerApprovals(again, 'approve')))).toBe('buy Dune, Emma: 1,2');
  });

  it('does not run after its time', async () => {
    const shop = new Shop();
    const buy = async (run: ToolRun) => `${(await run.call(shop.order, { title: run.text })).order}`;
    const { send } = await serveTools([shop.order], buy, { limits: { approvalMs: -1 } });
    const asked = await send('Dune');
    const late = await send(answerApprovals(asked, 'approve'));
    expect([statusText(late), shop.orders]).toEqual(['The approval came too late.', []]);
  });

  it('shows control characters of its arguments as escapes', async () => {
    const { send } = await startShop();
    expect(statusText(await send('buy a\u202eb\u2028'))).toContain(String.raw`"a\u{202e}b\u{2028}"`);
  });

  it('runs on its recorded arguments, without the model, if the agent resumes', async () => {
    const shop = new Shop();
    let asksOfModel = 0;
    const { send } = await serveTools([shop.order], async (run) => {
      if (run.calls.length === 0) await run.call('order', { title: `model ${++asksOfModel}` }, { id: 'call_abc' });
      const calls = await run.resume();
      return JSON.stringify(calls.map(({ id, state, output }) => [id, state, output]));
    });
    const asked = await send('go');
    expect(statusText(await send(answerApprovals(asked, 'approve')))).toBe('[["call_abc","succeeded",{"order":1}]]');
    expect([asksOfModel, shop.orders]).toEqual([1, ['model 1']]);
  });

  it('does not run with other arguments than those that were shown', async () => {
    const shop = new Shop();
    let turns = 0;
    const { send } = await serveTools([shop.order], async (run) => {
      turns += 1;
      return `${(await run.call(shop.order, { title: `turn ${turns}` })).order}`;
    });
    const asked = await send('go');
    const answered = await send(answerApprovals(asked, 'approve'));
    expect(statusText(answered)).toBe('The call 1.1 was recorded with another tool or other arguments.');
    expect(shop.orders).toEqual([]);
  });
});

describe('the card of an agent', () => {
  const cardOf = async (agent: AgentExecutor, extensions?: readonly AgentExtension[]) => {
    const server = createA2AServer({ agent, ...(extensions && { extensions }) });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const { card } = await connect((await server.listen(0)).url);
    return (card.capabilities.extensions ?? []).filter(({ uri }) => uri === TOOLS_EXTENSION);
  };

  it('declares the extension of tools if the agent has tools, once, and as its options say', async () => {
    const agent = toolAgent(new ToolRegistry([]), (_, { events }) => events.complete());
    expect(await cardOf(agent)).toEqual([TOOLS_CARD_EXTENSION]);
    const own = { uri: TOOLS_EXTENSION, description: 'Pays.', required: true };
    expect(await cardOf(agent, [own])).toEqual([own]);
    expect(await cardOf({ execute: (_, events) => events.complete() })).toEqual([]);
    expect(await cardOf(streamTextAgent({ model: 'none', tools: new ToolRegistry([]) }))).toHaveLength(1);
    expect(await cardOf(streamTextAgent({ model: 'none' }))).toEqual([]);
    expect(await cardOf(openAIAgent({ agent: new Agent({ name: 'A' }) }))).toHaveLength(1);
  });
});

describe('events of calls', () => {
  const slow = (gate: Promise<void>) =>
    defineTool({
      name: 'slow',
      input: jsonSchema<string>({ type: 'string' }),
      run: async (text) => {
        await gate;
        return text;
      },
    });
  const callStates = (events: readonly ToolEvent[]) => events.map(({ call }) => [call.state, call.input, call.output]);
  const expected = [
    ['running', 'x', undefined],
    ['succeeded', undefined, 'x'],
  ];

  it('arrive in a stream over JSON-RPC', async () => {
    const gate = Promise.withResolvers<void>();
    const { client } = await serveTools([slow(gate.promise)], async (run) => `${await run.call('slow', 'x')}`);
    const seen: ToolEvent[] = [];
    for await (const event of client.sendStreamingMessage('go')) {
      seen.push(...toolEventsOf(event));
      if (seen.length === 1) gate.resolve();
    }
    expect(callStates(seen)).toEqual(expected);
  });

  it("arrive at a callback over Cap'n Web", async () => {
    const gate = Promise.withResolvers<void>();
    const { url, client } = await serveTools([slow(gate.promise)], async (run) => `${await run.call('slow', 'x')}`);
    using agent = await connectCapnweb(url);
    const answer = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
    if (answer.task === undefined) throw new Error('no task');
    const seen: ToolEvent[] = [];
    const watch = agent.task(answer.task.id).watch(
      (events) => {
        for (const { event } of events) seen.push(...toolEventsOf(event));
        if (seen.length > 0) gate.resolve();
      },
      { after: 1 },
    );
    await watch.ended;
    expect(callStates(seen)).toEqual(expected);
  });

  it("arrive at a late callback over Cap'n Web, and at one that goes on after an event", async () => {
    const gate = Promise.withResolvers<void>();
    const { url, client } = await serveTools([slow(gate.promise)], async (run) => {
      const calls = [run.call('slow', 'x'), run.call('slow', 'y')];
      return (await Promise.all(calls)).join('');
    });
    using agent = await connectCapnweb(url);
    const answer = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
    if (answer.task === undefined) throw new Error('no task');
    const { id } = answer.task;
    await vi.waitFor(async () => expect(toolCalls(await client.getTask(id))).toHaveLength(2), 15_000);
    const seen: ToolEvent[] = [];
    // Without `after` a late watch begins with the task.
    const late = agent.task(id).watch((events) => {
      for (const { event } of events) seen.push(...toolEventsOf(event));
      if (seen.length > 0) gate.resolve();
    });
    await late.ended;
    expect(callStates(seen).slice(0, 2)).toEqual([
      ['running', 'x', undefined],
      ['running', 'y', undefined],
    ]);
    expect(seen.slice(2).map(({ call }) => [call.state, call.output])).toEqual([
      ['succeeded', 'x'],
      ['succeeded', 'y'],
    ]);
    const again: ToolEvent[] = [];
    const whole = agent.task(id).watch(
      (events) => {
        for (const { event } of events) again.push(...toolEventsOf(event));
      },
      { after: 1 },
    );
    await whole.ended;
    expect(again.map(({ call }) => call.state)).toEqual(['running', 'running', 'succeeded', 'succeeded']);
  });
});
