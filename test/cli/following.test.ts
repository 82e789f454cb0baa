import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type A2AServer, type AgentExecutor, createA2AServer, type StreamResponse, type Task } from 'parley-a2a';
import { textOf } from 'parley-a2a/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { EmptyFolder, parley, parleyJson, RunningParley } from './parley.js';
import { PseudoTerminal, terminalCases } from './pseudo-terminal.js';
import { type Answer, RecordingAgent, result, stream } from './recording-agent.js';

const count = (text: string, word: string) => text.split(word).length - 1;

/** Its first turn asks for input. Its second one extends the artifact of the first, and adds a file. */
const asker: AgentExecutor = {
  async execute({ message }, events) {
    if (message.parts.some((part) => part.text !== undefined && part.text === 'x')) {
      await events.artifact('Former text.', { artifactId: 'a' });
      await events.append('a', { raw: Buffer.from('former').toString('base64'), filename: 'former.txt' });
      return events.inputRequired('Former question?');
    }
    await events.append('a', ' New text.');
    await events.append('a', { raw: Buffer.from('new').toString('base64'), filename: 'new.txt' });
    await events.complete('New end.');
  },
};

describe('a message to an existing task', () => {
  const folder = new EmptyFolder();
  const live = createA2AServer({ agent: asker });
  const urls = { live: '', polled: '' };
  beforeAll(async () => {
    urls.live = (await live.listen(0)).url;
    urls.polled = join(folder.path, 'card.json');
    writeFileSync(urls.polled, JSON.stringify({ ...live.agentCard, capabilities: {} }));
  });
  afterAll(async () => {
    await live.close({ graceMs: 0 });
    folder[Symbol.dispose]();
  });

  const startTask = async (url: string) => (await parleyJson<{ task: Task }>(['send', 'x', '-a', url])).task.id;
  const expectOnlyNew = (shown: string) => {
    expect(shown).not.toContain('Former text.');
    expect(shown).not.toContain('Former question?');
    expect(shown).not.toContain('former.txt');
    for (const news of ['New text.', 'New end.', 'new.txt']) expect(count(shown, news), shown).toBe(1);
  };

  it.each(['live', 'polled'] as const)('prints only new content with --stream: %s', async (kind) => {
    const url = urls[kind];
    const saved = join(folder.path, kind);
    const args = ['send', 'y', '--stream', '--task-id', await startTask(url), '-a', url];
    const { stdout, code } = await parley([...args, '--verbose', '--save-fileparts', saved]);
    expectOnlyNew(stdout.replace(/^Saved: .*$/gm, ''));
    expect(readdirSync(saved)).toEqual(['new.txt']);
    expect(code).toBe(0);
  });

  it.each(['live', 'polled'] as const)('prints only new content in a conversation: %s', async (kind) => {
    const url = urls[kind];
    const { stdout } = await parley(['chat', '--task-id', await startTask(url), '-a', url], { input: 'y\n' });
    expectOnlyNew(stdout);
  });

  it('prints the whole task as JSON, and without --stream', async () => {
    const args = async () => ['send', 'y', '--task-id', await startTask(urls.live), '-a', urls.live];
    const { stdout } = await parley(await args());
    expect(stdout).toMatch(/Former text\..*New text\./s);
    const lines = await parley([...(await args()), '--stream', '-o', 'jsonl']);
    expect(textOf(foldLines(lines.stdout))).toMatch(/Former text\..*New text\./s);
  });

  it('prints content after an authorization once', async () => {
    const task = (state: string, text: string, said?: string) => ({
      ...{ id: 't-1', contextId: 'c-1', artifacts: [{ artifactId: 'a', parts: [{ text }] }] },
      status: {
        state: `TASK_STATE_${state}`,
        ...(said !== undefined && { message: { messageId: said, role: 'ROLE_AGENT', parts: [{ text: said }] } }),
      },
    });
    const asks = task('AUTH_REQUIRED', 'Before it.', 'Sign in');
    const later = [asks, asks, task('COMPLETED', 'Before it. After it.')];
    const answer: Answer = ({ body }) => {
      if (body.method === 'SendStreamingMessage') return stream({ task: asks });
      if (body.method === 'SubscribeToTask') return { status: 404, body: {} };
      return result(later.length > 1 ? later.shift() : later[0]);
    };
    await using agent = await RecordingAgent.start({ card: { capabilities: { streaming: true } }, answer });
    const args = ['send', 'x', '--stream', '--await-auth', '--poll-interval', '50ms', '-a', agent.url];
    const { stdout } = await parley(args);
    for (const news of ['Before it.', 'After it.']) expect(count(stdout, news), stdout).toBe(1);
    expect(stdout).toContain('State: COMPLETED');
  });
});

const NAMES = ['ash', 'beech', 'cedar'];

/** Appends words to several artifacts, which alternate. Each step waits for the test. */
class Weaver implements AgentExecutor {
  readonly steps = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  async execute(_: unknown, events: Parameters<AgentExecutor['execute']>[1]): Promise<void> {
    for (const name of NAMES) await events.artifact(`${name}0`, { artifactId: name, lastChunk: false });
    for (const [at, step] of this.steps.entries()) {
      await step.promise;
      for (const name of NAMES) {
        await events.append(name, `-${name}${at + 1}`, { lastChunk: false });
        if (name === 'beech' && at === 1) {
          const raw = Buffer.from('bytes').toString('base64');
          await events.append(name, { raw, filename: 'b.bin' }, { lastChunk: false });
        }
      }
    }
    await events.complete('The end.');
  }
}

/** Starts an agent behind a proxy that cuts its connection. `keepsEvents`: the client resumes with events. */
async function cutAgent({ keepsEvents, at }: { readonly keepsEvents: boolean; readonly at: string }) {
  const weaver = new Weaver();
  const server: A2AServer = createA2AServer({ agent: weaver });
  const { url } = await server.listen(0);
  const proxy = await CuttingProxy.open(Number(new URL(url).port), { at, times: 1 });
  const folder = new EmptyFolder();
  const card = join(folder.path, 'card.json');
  const { supportedInterfaces, capabilities, ...others } = server.agentCard;
  const shown = {
    ...others,
    capabilities: keepsEvents ? capabilities : { streaming: true },
    supportedInterfaces: supportedInterfaces.map((one) => ({ ...one, url: one.url.replace(url, proxy.url) })),
  };
  writeFileSync(card, JSON.stringify(shown));
  return {
    ...{ weaver, card, folder, url },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server.close({ graceMs: 0 });
      folder[Symbol.dispose]();
    },
  };
}

/** The words of each artifact, in order. */
const WORDS = NAMES.map((name) => [0, 1, 2, 3].map((at) => `${name}${at}`));

/** Returns the task of events as lines of JSON. An event with a task replaces all earlier ones. */
function foldLines(lines: string): Task {
  const parts = new Map<string, Task['artifacts'] extends readonly (infer One)[] | undefined ? One : never>();
  let task: Task | undefined;
  for (const line of lines.trim().split('\n')) {
    const event = JSON.parse(line) as StreamResponse;
    if (event.task !== undefined) {
      task = event.task;
      parts.clear();
      for (const artifact of task.artifacts ?? []) parts.set(artifact.artifactId, artifact);
    } else if (event.artifactUpdate !== undefined) {
      const { artifact, append } = event.artifactUpdate;
      const before = append === true ? (parts.get(artifact.artifactId)?.parts ?? []) : [];
      parts.set(artifact.artifactId, { ...artifact, parts: [...before, ...artifact.parts] });
    }
  }
  if (task === undefined) throw new Error(`No task in ${lines}`);
  return { ...task, artifacts: [...parts.values()] };
}

function expectEachOnce(shown: string): void {
  for (const words of WORDS) {
    for (const word of words) expect(count(shown, word), `${word} in\n${shown}`).toBe(1);
    expect(words.map((word) => shown.indexOf(word))).toEqual(
      words.map((word) => shown.indexOf(word)).sort((x, y) => x - y),
    );
  }
  expect(count(shown, 'The end.'), shown).toBe(1);
}

describe.each([
  ['events', true],
  ['a snapshot', false],
])('a stream that breaks within parallel artifacts, and is resumed with %s', (_name, keepsEvents) => {
  it.each([
    ['send --stream', ['send', 'x', '--stream'], {}],
    ['chat', ['chat'], { input: 'x\n' }],
  ])('is printed without repetition and without gaps: %s', async (_command, args, options) => {
    await using agent = await cutAgent({ keepsEvents, at: '-beech2' });
    const saved = join(agent.folder.path, 'saved');
    const saving = args[0] === 'send' ? ['--save-fileparts', saved] : [];
    await using sent = new RunningParley([...args, ...saving, '-a', agent.card], { ...options, joined: true });
    const [one, two, three] = agent.weaver.steps;
    await sent.waitForStdout(/cedar0/);
    one?.resolve();
    await sent.waitForStdout(/cedar1/);
    two?.resolve();
    await sent.waitForStdout(/^Connected again/m);
    three?.resolve();
    const { stdout, code } = await sent.ended;
    expectEachOnce(stdout);
    expect(count(stdout, 'File: b.bin, '), stdout).toBe(1);
    expect(existsSync(saved) ? readdirSync(saved) : []).toEqual(saving.length > 0 ? ['b.bin'] : []);
    // Notices begin on a new line.
    expect(stdout).not.toMatch(/[^\n](?:Connection lost|Connected again)/);
    expect(stdout).toMatch(/^Connection lost: .*\.\nConnected again, .*\.\n/m);
    expect(code).toBe(0);
  });

  it('prints JSON events that add up to the task', async () => {
    await using agent = await cutAgent({ keepsEvents, at: '-beech2' });
    await using sent = new RunningParley(['send', 'x', '--stream', '-o', 'jsonl', '-a', agent.card]);
    const [one, two, three] = agent.weaver.steps;
    one?.resolve();
    await sent.waitForStdout(/cedar1/);
    two?.resolve();
    three?.resolve();
    const { stdout, stderr } = await sent.ended;
    expect(stderr).toContain('Connection lost');
    const { artifacts = [] } = foldLines(stdout);
    expect(artifacts.map((artifact) => textOf(artifact).replaceAll('\n', ''))).toEqual(
      WORDS.map((words) => words.join('-')),
    );
  });

  it('is printed whole if task subscribe joins a running task', async () => {
    await using agent = await cutAgent({ keepsEvents, at: '-beech2' });
    const { id } = (await parleyJson<{ task: Task }>(['send', 'x', '--async', '-a', agent.url])).task;
    await using followed = new RunningParley(['task', 'subscribe', id, '--stream', '-a', agent.card], { joined: true });
    await followed.waitForStdout(/cedar0/);
    const [one, two, three] = agent.weaver.steps;
    one?.resolve();
    two?.resolve();
    await followed.waitForStdout(/^Connected again/m);
    three?.resolve();
    expectEachOnce((await followed.ended).stdout);
  });
});

describe('a notice on a terminal with text', () => {
  it.for(terminalCases())('begins on a new line', async () => {
    for (const command of ['send', 'chat']) {
      await using agent = await cutAgent({ keepsEvents: true, at: '-ash2' });
      const args = command === 'send' ? ['send', 'x', '--stream'] : ['chat'];
      await using terminal = new PseudoTerminal([...args, '-a', agent.card], { NO_COLOR: '1' });
      if (command === 'chat') {
        await terminal.shows(/> /);
        terminal.type('x\n');
      }
      await terminal.shows(/cedar0/);
      const [one, two, three] = agent.weaver.steps;
      one?.resolve();
      await terminal.shows(/cedar1/);
      two?.resolve();
      expect(await terminal.shows(/Connection lost/)).toMatch(/^\r\nConnection lost$/);
      await terminal.shows(/Connected again/);
      three?.resolve();
      await terminal.shows(/The end\./);
    }
  });
});
