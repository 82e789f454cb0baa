import { createA2AServer } from 'parley-a2a/node';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley } from './parley.js';

/** Echoes, and asks for input if the text ends with a question mark. */
const server = createA2AServer({
  agent: {
    async execute(context, events) {
      if (context.text.endsWith('?')) return void (await events.inputRequired('and?'));
      await events.artifact(`Echo: ${context.text}`);
      await events.complete();
    },
  },
  bindings: [capnwebBinding()],
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
let url = '';
beforeAll(async () => {
  ({ url } = await server.listen(0));
});
afterAll(() => server.close({ graceMs: 0 }));

const run = (...args: readonly string[]) => parley([...args, '-a', url, '--transport', 'capnweb', '-o', 'json']);
const runOk = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

describe('--transport capnweb', () => {
  it('sends, gets, lists, cancels and subscribes', async () => {
    const sent = JSON.parse(await runOk('send', 'hello'));
    expect(JSON.stringify(sent)).toContain('Echo: hello');
    const waiting = JSON.parse(await runOk('send', 'more?'));
    const id: string = waiting.task?.id ?? waiting.id;
    expect(await runOk('task', 'get', id)).toContain('TASK_STATE_INPUT_REQUIRED');
    expect(await runOk('task', 'list')).toContain(id);
    expect(await runOk('task', 'cancel', id)).toContain('TASK_STATE_CANCELED');
    const missing = await run('task', 'get', 'none');
    expect(missing.code).toBe(1);
    expect(missing.stderr + missing.stdout).toContain('TaskNotFoundError');
  });

  it('streams and chats', async () => {
    const streamed = await runOk('send', 'hello', '--stream');
    expect(streamed).toContain('Echo: hello');
    const { code, stdout } = await parley(['chat', '-a', url, '--transport', 'capnweb'], { input: 'one\ntwo\n' });
    expect(code).toBe(0);
    expect(stdout).toContain('Echo: two');
  });

  it('calls an address without a card', async () => {
    const address = `${url.replace('http', 'ws')}/a2a/capnweb`;
    const { code, stdout } = await parley(['send', '-e', address, '--transport', 'capnweb', 'hello']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Echo: hello') });
  });

  it('is in the help', async () => {
    expect((await parley(['help', 'send'])).stdout).toMatch(/CAPNWEB/);
  });
});
