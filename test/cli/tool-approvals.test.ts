import { createA2AServer } from 'parley-a2a';
import { defineTool, jsonSchema, runTools, ToolRegistry } from 'parley-a2a/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley } from './parley.js';

const orders: string[] = [];
const order = defineTool({
  name: 'order',
  input: jsonSchema<{ readonly title: string }>({ type: 'object', required: ['title'] }),
  needsApproval: true,
  run: ({ title }) => orders.push(title),
});
const shop = createA2AServer({
  agent: {
    execute: (context, events) =>
      runTools(context, events, new ToolRegistry([order]), async (run) => {
        await run.call(order, { title: run.text });
        await events.complete(`Ordered ${run.text}`);
      }),
  },
});
let url: string;
beforeAll(async () => {
  ({ url } = await shop.listen(0));
});
afterAll(() => shop.close({ graceMs: 0 }));

describe('a call of a tool that needs an approval', () => {
  it('is printed by send, and runs after the answer yes', async () => {
    const asked = await parley(['send', 'Dune', '-a', url]);
    expect(asked.stdout).toContain('This call needs your approval:');
    expect(asked.stdout).toContain('1.1: order {"title":"Dune"}');
    expect(asked.stdout).toContain('Tool: order {"title":"Dune"} · waits for an answer (1.1)\n');
    expect(asked.stdout).toContain('Tool: order {"title":"Dune"} · requested (1.1)\n');
    expect(asked.stdout).not.toContain('Data:');
    expect(asked.stderr).toContain('the task waits for your reply');
    expect(orders).toEqual([]);
    const id = /Task: (\S+)/.exec(asked.stdout)?.[1] ?? '';
    const done = await parley(['send', 'yes', '--task-id', id, '-a', url]);
    expect([done.code, done.stdout.includes('Ordered Dune')]).toEqual([0, true]);
    expect(orders).toEqual(['Dune']);
    const shown = await parley(['task', 'get', id, '-a', url]);
    expect(shown.stdout).toContain('Tool: order {"title":"Dune"} · succeeded (1.1): 1\n');
    expect(shown.stdout.match(/^Tool: /gm)).toHaveLength(1);
    expect(shown.stdout).not.toContain('toolCall');
    for (const all of [['-o', 'json'], ['--verbose']])
      expect((await parley(['task', 'get', id, '-a', url, ...all])).stdout).toMatch(/"toolCall": \{/);
  });

  it('is printed as canceled after its task was canceled', async () => {
    const asked = await parley(['send', 'Ilias', '-a', url]);
    const id = /Task: (\S+)/.exec(asked.stdout)?.[1] ?? '';
    const canceled = await parley(['task', 'cancel', id, '-a', url]);
    const got = await parley(['task', 'get', id, '-a', url]);
    const listed = await parley(['task', 'list', '--with-artifacts', '--page-size', '1', '-a', url]);
    for (const { stdout } of [canceled, got, listed]) {
      expect(stdout).toContain('Tool: order {"title":"Ilias"} · canceled (1.1)\n');
      expect(stdout.match(/^Tool: /gm)).toHaveLength(1);
    }
  });

  it('is answered in a conversation', async () => {
    const chat = await parley(['chat', '-a', url], { input: 'Emma\nno\nOdes\nyes\n' });
    expect(chat.stdout).toContain('1.1: order {"title":"Emma"}');
    expect(chat.stdout).toContain('The call was refused.');
    expect(chat.stdout).toContain('Ordered Odes');
    expect(orders).toEqual(['Dune', 'Odes']);
  });
});
