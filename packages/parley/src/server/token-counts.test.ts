import { describe, expect, it } from 'vitest';
import { call, message, Sent } from '../../test/engine.js';
import { Replicas } from '../../test/replicas.js';
import { TokenBudgetError } from '../errors/token-budget-error.js';
import type { JsonObject } from '../model/json.js';
import type { Task } from '../model/task.js';
import { USAGE_EXTENSION, usageIn } from '../task/token-usage.js';
import type { AgentExecutor } from './agent-executor.js';
import type { TokenLimits, TurnPorts } from './turn-ports.js';

const ANN = call({ user: { id: 'ann' } });
/** Longer than a lease and the heartbeats of the processes. */
const TAKEN_OVER_MS = 90_000;

/** Limits that record the tokens and the exceeded budgets. */
function createLimits(most: TokenLimits['most'], mostToday?: number) {
  let spent = 0;
  const exceeded: string[] = [];
  const turnPorts: TurnPorts = {
    tokens: async () => ({
      most,
      mostToday,
      restToday: async () => (mostToday ?? Infinity) - spent,
      spend: async ({ inputTokens, outputTokens }) => {
        spent += inputTokens + outputTokens;
        return (mostToday ?? Infinity) - spent;
      },
      exceeded: (budget) => void exceeded.push(budget),
    }),
  };
  return { turnPorts, exceeded, spent: () => spent };
}

async function runTask(replicas: Replicas, executor: AgentExecutor, options: { readonly turnPorts?: TurnPorts } = {}) {
  const { handler } = await replicas.boot(executor, options);
  const send = async (text: string, taskId?: string): Promise<Task> => {
    const said = message({ messageId: text, parts: [{ text }], ...(taskId !== undefined && { taskId }) });
    const sent = new Sent(handler.sendMessage({ message: said }, ANN));
    await replicas.clock.advance(1_000);
    return sent.task ?? expect.unreachable();
  };
  return { handler, send };
}

const counts: AgentExecutor = {
  async execute(context, events) {
    await context.countTokens();
    await context.countTokens({ inputTokens: 30, outputTokens: 10, cachedInputTokens: 20 });
    await context.countTokens();
    await context.countTokens({ inputTokens: 50, outputTokens: 5 });
    if (context.text === 'ask') await events.inputRequired('And?');
    else await events.complete();
  },
};

describe('the tokens of a task', () => {
  it('are in its metadata, summed by task and by turn', async () => {
    const { send } = await runTask(new Replicas(), counts);
    const asked = await send('ask');
    expect(usageIn(asked.metadata)).toEqual({
      inputTokens: 80,
      outputTokens: 15,
      cachedInputTokens: 20,
      calledTokens: 0,
      totalTokens: 95,
      turn: { number: 1, inputTokens: 80, outputTokens: 15, cachedInputTokens: 20, calledTokens: 0 },
    });
    const done = await send('go on', asked.id);
    expect(usageIn(done.metadata)).toMatchObject({
      inputTokens: 160,
      outputTokens: 30,
      turn: { number: 2, inputTokens: 80, outputTokens: 15 },
    });
  });

  it('are counted once each over a crash, also those of the attempt that died', async () => {
    const replicas = new Replicas();
    let attempts = 0;
    const agent: AgentExecutor = {
      resumable: true,
      async execute(context, events) {
        attempts += 1;
        await events.working();
        await context.countTokens({ inputTokens: 7, outputTokens: 3 });
        if (attempts === 1) await new Promise(() => {});
        await events.complete();
      },
    };
    const first = await replicas.boot(agent);
    const sent = new Sent(
      first.handler.sendMessage({ message: message(), configuration: { returnImmediately: true } }, ANN),
    );
    await replicas.clock.advance(1_000);
    expect(usageIn(sent.task?.metadata)).toBeUndefined();
    first.client.dead = true;
    const second = await replicas.boot(agent);
    await replicas.clock.advance(TAKEN_OVER_MS);
    const { metadata, status } = await second.handler.getTask({ id: sent.task?.id ?? '' }, ANN);
    expect([attempts, status.state]).toEqual([2, 'TASK_STATE_COMPLETED']);
    expect(usageIn(metadata)).toMatchObject({ inputTokens: 14, outputTokens: 6, turn: { number: 1, inputTokens: 14 } });
  });

  it('are in a task that another process ends, because its agent cannot go on', async () => {
    const replicas = new Replicas();
    const agent: AgentExecutor = {
      async execute(context, events) {
        await events.working();
        await context.countTokens({ inputTokens: 7, outputTokens: 3 });
        await new Promise(() => {});
      },
    };
    const first = await replicas.boot(agent);
    const sent = new Sent(
      first.handler.sendMessage({ message: message(), configuration: { returnImmediately: true } }, ANN),
    );
    await replicas.clock.advance(1_000);
    first.client.dead = true;
    const second = await replicas.boot(agent);
    await replicas.clock.advance(TAKEN_OVER_MS);
    const { metadata, status } = await second.handler.getTask({ id: sent.task?.id ?? '' }, ANN);
    expect([status.state, usageIn(metadata)?.inputTokens]).toEqual(['TASK_STATE_FAILED', 7]);
  });

  it('are not what a caller writes who cancels', async () => {
    const replicas = new Replicas();
    const { handler, send } = await runTask(replicas, counts);
    const { id } = await send('ask');
    const forged: JsonObject = { [USAGE_EXTENSION]: { inputTokens: 1 }, reason: 'mine' };
    const canceled = await handler.cancelTask({ id, metadata: forged }, ANN);
    expect([canceled.metadata?.reason, usageIn(canceled.metadata)?.inputTokens]).toEqual(['mine', 80]);
  });

  it('are whole numbers from 0', async () => {
    const faults: unknown[] = [];
    const checks: AgentExecutor = {
      async execute(context, events) {
        for (const wrong of [{ inputTokens: -1 }, { outputTokens: 0.5 }, { cachedInputTokens: 1 }])
          await context.countTokens(wrong).catch((error: unknown) => faults.push(error));
        await events.complete();
      },
    };
    const { send } = await runTask(new Replicas(), checks);
    expect((await send('wrong')).metadata).toBeUndefined();
    expect(faults.map((fault) => fault instanceof TypeError)).toEqual([true, true, true]);
  });
});

describe('a budget of tokens', () => {
  it.each([
    ['turn', { turn: 50 }, undefined, 'one turn', '95 of 50'],
    ['task', { task: 60 }, undefined, 'this task', '95 of 60'],
    ['caller', { caller: 94 }, undefined, 'the calling agent', '95 of 94'],
    ['ownerPerDay', {}, 90, 'today', '95 of 90'],
  ] as const)('of a %s fails the task, and says how much was used', async (name, most, mostToday, whose, figures) => {
    const budget = createLimits(most, mostToday);
    const { send } = await runTask(new Replicas(), counts, budget);
    const { status, metadata } = await send('hello');
    const [{ text = '' } = {}] = status.message?.parts ?? [];
    expect([status.state, budget.exceeded]).toEqual(['TASK_STATE_FAILED', [name]]);
    expect(text).toContain(whose);
    expect(text).toContain(figures);
    expect(usageIn(metadata)).toMatchObject({ inputTokens: 80, outputTokens: 15 });
  });

  it('lets no call begin at its limit', async () => {
    const budget = createLimits({ turn: 40 });
    const { send } = await runTask(new Replicas(), counts, budget);
    const { status, metadata } = await send('hello');
    expect([status.state, usageIn(metadata)?.inputTokens, budget.spent()]).toEqual(['TASK_STATE_FAILED', 30, 40]);
  });

  it('allows a turn that ends exactly at its limit', async () => {
    const { send } = await runTask(new Replicas(), counts, createLimits({ turn: 95 }));
    expect((await send('hello')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('counts the earlier turns of a task', async () => {
    const { send } = await runTask(new Replicas(), counts, createLimits({ task: 100 }));
    const asked = await send('ask');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await send('go on', asked.id)).status.state).toBe('TASK_STATE_FAILED');
  });

  it('ends the turn of an agent that catches the error', async () => {
    const errors: unknown[] = [];
    const stubborn: AgentExecutor = {
      async execute(context, events) {
        for (let round = 0; round < 5; round++)
          await context.countTokens({ inputTokens: 10 }).catch((error: unknown) => errors.push(error));
        await events.complete('done anyway');
      },
    };
    const budget = createLimits({ turn: 15 });
    const { send } = await runTask(new Replicas(), stubborn, budget);
    const { status } = await send('hello');
    expect([status.state, budget.exceeded]).toEqual(['TASK_STATE_FAILED', ['turn']]);
    expect(errors.map((error) => error instanceof TokenBudgetError)).toEqual([true, true, true, true]);
  });
});
