import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type A2AHost, createA2AHost } from '../../packages/parley/src/exports/node.js';
import type { TaskState } from '../../packages/parley/src/model/task-state.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { BINDINGS } from './every-binding/bindings.js';

const LIMIT_MS = 10_000;

/** Asks in the way that the last message names. */
const executor: AgentExecutor = {
  async execute(context, events) {
    await events.working();
    if (context.text === 'ask') return events.inputRequired('Which one?');
    if (context.text === 'log in yourself') {
      await events.authRequired('Please log in');
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }));
      return undefined;
    }
    if (context.text !== 'log in') return events.complete();
    const { parameters } = await context.requestAuthorization({ message: 'Please log in', url: 'https://a.example' });
    return events.complete(parameters.code ?? '');
  },
};

const cells = BINDINGS.flatMap((binding) => binding.versions.map((version) => ({ binding, version })));

describe('a state that waits for the caller ends ask (Spec §3.1.1)', () => {
  let host: A2AHost;
  const versions = ['1.0', '0.3'] as const;

  beforeAll(async () => {
    host = createA2AHost({
      agents: { '/': { agent: executor, versions } },
      bindings: BINDINGS.flatMap(({ serves }) => serves?.(['/']) ?? []),
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    await host.listen(0);
  });

  afterAll(async () => {
    await host.close({ graceMs: 0 });
  });

  it.concurrent.each(cells)('over $binding.name in $version', async ({ binding, version }) => {
    const client = await binding.connect({ host, path: '/', version, options: {} });
    const stateAfter = async (text: string, taskId?: string) => {
      const message = { parts: [{ text }], ...(taskId !== undefined && { taskId }) };
      const answer = await client.ask({ message }, { timeoutMs: LIMIT_MS, pollMs: 20 });
      if (answer.task === undefined) throw new Error('no task');
      return answer.task;
    };
    for (const [text, state] of [
      ['log in', 'TASK_STATE_AUTH_REQUIRED'],
      ['log in yourself', 'TASK_STATE_AUTH_REQUIRED'],
      ['ask', 'TASK_STATE_INPUT_REQUIRED'],
    ] as const satisfies readonly (readonly [string, TaskState])[]) {
      const task = await stateAfter(text);
      expect(task.status.state, text).toBe(state);
      // The state before the message does not count.
      if (text === 'log in yourself') continue;
      expect((await stateAfter('log in', task.id)).status.state, `${text}, log in`).toBe('TASK_STATE_AUTH_REQUIRED');
      expect((await stateAfter('thanks', task.id)).status.state, `${text}, thanks`).toBe('TASK_STATE_COMPLETED');
    }
    client.close();
  });
});
