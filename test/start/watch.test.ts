import { afterEach, expect, it, vi } from 'vitest';
import { CopiedTree } from '../support/copied-tree.js';
import { StartedServer } from './started-server.js';

const HELLO = 'examples/agents/src/hello-agent.ts';
/** A library below the agents. In the long form also the core, on which all others depend. */
const LIBRARY = 'packages/grpc/src/index.ts';
const CORE = 'packages/parley/src/app/origin.ts';
const TIMEOUT_MS = 240_000;
const isLong = process.env.TEST_LONG !== undefined;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

function startCopy(args: readonly string[]): { tree: CopiedTree; start: StartedServer } {
  const tree = new CopiedTree();
  ends.push(() => tree[Symbol.dispose]());
  const start = new StartedServer(tree, args);
  ends.push(() => start.kill());
  return { tree, start };
}

const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };

async function greetAgent(url: string): Promise<{ id: string; text: string }> {
  const body = JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'you' }] } });
  const response = await fetch(`${url}/hello/message:send`, { method: 'POST', headers, body });
  const { task } = (await response.json()) as { task: { id: string; artifacts: { parts: { text: string }[] }[] } };
  return { id: task.id, text: task.artifacts[0]?.parts[0]?.text ?? '' };
}

it('`npm start -- --watch` serves what was changed, and keeps the tasks', { timeout: TIMEOUT_MS }, async () => {
  const { tree, start } = startCopy(['--watch']);
  const first = await start.listens();
  const { id, text } = await greetAgent(first);
  expect(text).toBe('Hello, World! You said: "you"');

  // A source of the agents and one of a library.
  tree.edit(HELLO, 'Hello, World! You said', 'Good morning! You said');
  tree.edit(LIBRARY, 'export type { GrpcTls }', "console.log('the changed library');\nexport type { GrpcTls }");
  if (isLong) tree.edit(CORE, 'Agent2Agent (A2A)', 'Agent3Agent');
  await start.prints(/"msg":"stopped"/);
  await start.prints(/^the changed library$/m);
  const second = await start.listens();
  expect((await greetAgent(second)).text).toBe('Good morning! You said: "you"');
  expect(await (await fetch(second)).text()).toContain(isLong ? 'Agent3Agent' : 'Agent2Agent');
  expect(await (await fetch(`${second}/hello/tasks/${id}`, { headers })).json()).toMatchObject({ id });

  // An error of syntax is printed with its place, and the server goes on. Types are not checked.
  tree.edit(HELLO, 'await events.working();', 'await events.working(;');
  expect(await start.prints(/\[ERROR\] ([^\n]*)\n\n *src\/hello-agent\.ts:\d+/)).toContain('Unexpected');
  await start.prints(/The sources do not compile\. The server goes on as it was; waiting for a change/);
  expect((await greetAgent(second)).text).toContain('Good morning!');

  // Each change takes builds, so that the rest is in the long form.
  if (isLong) await outlivesItsServer(tree, start);

  expect(await start.interrupt()).toBe(0);
  // The compiler of a build that failed is an orphan, and in the group until init has read its end.
  await vi.waitFor(() => expect(start.alive).toBe(false), 30_000);
});

/** A server that dies is told, and comes back with the next change that compiles. */
async function outlivesItsServer(tree: CopiedTree, start: StartedServer): Promise<void> {
  tree.edit('examples/agents/src/serve.ts', 'await serve();', "throw new Error('planted');");
  tree.edit(HELLO, 'await events.working(;', 'await events.working();');
  await start.prints(/The server ended with code 1; waiting for a change/);
  tree.edit(HELLO, 'Good morning! You said', 'Good night! You said');
  tree.edit('examples/agents/src/serve.ts', "throw new Error('planted');", 'await serve();');
  const third = await start.listens();
  expect((await greetAgent(third)).text).toBe('Good night! You said: "you"');
}

it('`npm start` refuses an option that it does not know, and says which there are', async () => {
  const { start } = startCopy(['--wach']);
  expect(await start.prints(/Unknown option '(.*?)'/)).toBe('--wach');
  await start.prints(/--watch {3}builds and serves again/);
});
