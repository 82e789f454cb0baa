import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { directoryFileStore, fileTransfer } from 'parley-a2a/files';
import { createA2AServer } from 'parley-a2a/node';
import type { AgentExecutor } from 'parley-a2a/server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Cut, CuttingProxy } from '../support/cutting-proxy.js';
import { freePort } from '../support/servers/free-port.js';
import { EmptyFolder, parley, RunningParley } from './parley.js';
import { PseudoTerminal, terminalCases } from './pseudo-terminal.js';

const MARK = 'the connection is cut here';
/** The mark is in the second half of the file. */
const content = Buffer.concat([randomBytes(7_000_000), Buffer.from(MARK), randomBytes(5_000_000)]);
let folder: EmptyFolder;
beforeEach(() => {
  folder = new EmptyFolder();
  writeFileSync(join(folder.path, 'film.bin'), content);
});
afterEach(() => folder[Symbol.dispose]());

/** Returns the file of a message as an artifact. */
const copier: AgentExecutor['execute'] = async (context, events) => {
  for (const part of context.message.parts) {
    if (part.url === undefined) continue;
    const { chunks } = await context.files.open(part);
    await events.artifact(await context.files.write(chunks, { filename: 'copy.bin' }));
  }
  await events.complete('copied');
};

/** Starts a server with a file store behind a proxy. */
async function serveFiles(cut: Cut) {
  const port = await freePort();
  const proxy = await CuttingProxy.open(port, cut);
  const store = directoryFileStore({ path: join(folder.path, 'store') });
  const server = createA2AServer({ agent: { execute: copier }, files: fileTransfer({ store }), url: proxy.url });
  await server.listen(port);
  return {
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server.close({ graceMs: 0 });
    },
  };
}

it.each([
  ['nothing is cut', { at: MARK, times: 0 }],
  ['the upload is cut twice', { at: 4_000_000, times: 2 }],
  ['the download is cut', { at: MARK, times: 1 }],
])('a large file is sent to an agent and returned: %s', async (_, cut) => {
  await using agent = await serveFiles(cut);
  const file = join(folder.path, 'film.bin');
  const sent = await parley(['send', 'Copy it', '--file', file, '-a', agent.proxy.url, '-o', 'json']);
  expect(sent.code).toBe(0);
  const id = /Task: (\S+)/.exec(sent.stderr)?.[1] ?? '';
  const into = join(folder.path, 'into');
  const got = await parley(['task', 'download', id, '--dir', into, '-a', agent.proxy.url]);
  expect(got.code).toBe(0);
  expect(agent.proxy.cuts).toBe(cut.times);
  expect(readdirSync(into)).toEqual(['copy.bin']);
  const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(sum(readFileSync(join(into, 'copy.bin')))).toBe(sum(content));
});

it.for(terminalCases())('the progress of an upload and a download is shown on a terminal', async () => {
  await using agent = await serveFiles({ at: MARK, times: 0 });
  const file = join(folder.path, 'film.bin');
  await using sending = new PseudoTerminal(['send', 'Copy it', '--file', file, '-a', agent.proxy.url]);
  await sending.shows(/film\.bin: [\d.]+ \w+ of 12\.0 MB/);
  const { said } = await sending.waitForEnd();
  const id = /Task: ([0-9a-f-]{36})/.exec(said)?.[1] ?? '';
  const into = join(folder.path, 'into');
  await using loading = new PseudoTerminal(['task', 'download', id, '--dir', into, '-a', agent.proxy.url]);
  await loading.shows(/copy\.bin: [\d.]+ \w+ of 12\.0 MB/);
  expect((await loading.waitForEnd()).code).toBe(0);
});

it('a second run resumes the upload of a killed run', async () => {
  await using agent = await serveFiles({ at: MARK, times: 0 });
  const file = join(folder.path, 'film.bin');
  const XDG_CONFIG_HOME = join(folder.path, 'config');
  const notes = () => readFileSync(join(XDG_CONFIG_HOME, 'a2a-cli', 'uploads.json'), 'utf8');
  const send = ['send', 'Copy it', '--file', file, '-a', agent.proxy.url];
  const held = agent.proxy.hold(5_000_000);
  await using first = new RunningParley(send, { env: { XDG_CONFIG_HOME } });
  await held;
  first.process.kill('SIGKILL');
  await first.ended;
  expect(Object.values(JSON.parse(notes()))).toEqual([expect.stringContaining('/a2a/files/')]);
  const before = agent.proxy.sent;
  const second = await parley(send, { env: { XDG_CONFIG_HOME } });
  expect(second.code).toBe(0);
  // Only the rest is sent again. The server may have stored less than it received.
  expect(agent.proxy.sent - before).toBeLessThan(content.length - 2_000_000);
  expect(notes()).toBe('{}\n');
  const id = /Task: ([0-9a-f-]{36})/.exec(second.stdout)?.[1] ?? '';
  const got = await parley(['task', 'download', id, '--dir', join(folder.path, 'into'), '-a', agent.proxy.url]);
  expect(got.code).toBe(0);
  expect(readFileSync(join(folder.path, 'into', 'copy.bin')).equals(content)).toBe(true);
});

it('an upload restarts if the server no longer has it, or the file has changed', async () => {
  await using agent = await serveFiles({ at: MARK, times: 0 });
  const file = join(folder.path, 'film.bin');
  const XDG_CONFIG_HOME = join(folder.path, 'config');
  const send = ['send', 'Copy it', '--file', file, '-a', agent.proxy.url];
  const stop = async () => {
    const held = agent.proxy.hold(5_000_000);
    await using run = new RunningParley(send, { env: { XDG_CONFIG_HOME } });
    await held;
    run.process.kill('SIGKILL');
    await run.ended;
  };
  await stop();
  const notes = JSON.parse(readFileSync(join(XDG_CONFIG_HOME, 'a2a-cli', 'uploads.json'), 'utf8'));
  const [url] = Object.values(notes) as string[];
  expect((await fetch(url ?? '', { method: 'DELETE' })).status).toBe(204);
  expect((await parley(send, { env: { XDG_CONFIG_HOME } })).code).toBe(0);
  await stop();
  writeFileSync(file, Buffer.concat([randomBytes(9_000_000)]));
  const changed = await parley(send, { env: { XDG_CONFIG_HOME } });
  expect(changed.code).toBe(0);
});
