import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'parley-a2a';
import { answerApprovals } from 'parley-a2a/tools';
import { expect, it, vi } from 'vitest';
import type { Combination } from '../create/combinations.js';
import { CreatedProject, MINUTES } from './created-project.js';

const HOSTS: readonly Combination['host'][] = process.env.TEST_LONG === undefined ? ['own'] : ['own', 'next'];

it.each(HOSTS)('tasks survive the reload of `npm run dev` (%s)', { timeout: 5 * MINUTES }, async (host) => {
  using project = await CreatedProject.create({ agent: 'tools', host, storage: 'sqlite', auth: 'none' }, 'reloaded');
  const path = join(project.folder, 'agent.ts');
  const source = readFileSync(path, 'utf8');
  // The first version never ends a small refund.
  const running = source.replace(
    /run: .*,\n/,
    'idempotent: true,\n  run: ({ euros }) => (euros > 10 ? "old" : new Promise<string>(() => {})),\n',
  );
  expect(running).not.toBe(source);
  writeFileSync(path, running);
  await project.serve('dev', {}, async ({ url, output }) => {
    const client = await connect(url);
    const waiting = await client.ask('Refund 50 euros');
    expect(waiting.task?.status.state, output()).toBe('TASK_STATE_INPUT_REQUIRED');
    const { task: small } = await client.sendMessage({
      message: { parts: [{ text: 'Refund 5 euros' }] },
      configuration: { returnImmediately: true },
    });
    const stateOf = async (id = '') => (await client.getTask(id)).status.state;
    await vi.waitFor(async () => expect(await stateOf(small?.id)).toBe('TASK_STATE_WORKING'), MINUTES);

    writeFileSync(
      path,
      source.replace('needsApproval', 'idempotent: true,\n  needsApproval').replace('Refunds an', 'Pays an'),
    );
    await vi.waitFor(
      async () => expect(await (await fetch(`${url}/.well-known/agent-card.json`)).text()).toContain('Pays an'),
      MINUTES,
    );
    await vi.waitFor(async () => expect(await stateOf(small?.id), output()).toBe('TASK_STATE_COMPLETED'), MINUTES);
    if (waiting.task === undefined) expect.fail();
    const paid = await client.ask({ message: answerApprovals(waiting.task, 'approve') });
    expect(paid.task?.status.message?.parts).toEqual([{ text: '50 euros are on their way.' }]);
  });
});

it.runIf(process.env.TEST_LONG !== undefined)(
  'a server of Next.js whose agent could not be opened opens it once it can',
  { timeout: 5 * MINUTES },
  async () => {
    using project = await CreatedProject.create(
      { agent: 'plain', host: 'next', storage: 'sqlite', auth: 'none' },
      'broken',
    );
    const path = join(project.folder, 'agent.ts');
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, source.replace("name: 'Shouter'", "name: ''"));
    await project.serve('dev', {}, async ({ url, ask }) => {
      expect((await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(500);
      writeFileSync(path, source);
      await vi.waitFor(async () => expect(await ask()).toMatch(/^HELLO/), MINUTES);
    });
  },
);
