import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley, parleyJson, ServedAgent } from './parley.js';
import { CTRL_C, CTRL_D, PseudoTerminal, terminalCases } from './pseudo-terminal.js';
import { type Answer, RecordingAgent, result, stream } from './recording-agent.js';

const cases = terminalCases();
const PROMPT = /> /;
let demo: ServedAgent;
beforeAll(async () => {
  demo = await ServedAgent.start(['demo-server', '--quiet']);
});
afterAll(() => demo[Symbol.asyncDispose]());

describe('a conversation on a terminal', () => {
  const at = () => ['chat', '-a', demo.url];

  it.for(cases)('shows the answers without ids, and the ids at the end', async () => {
    await using terminal = new PseudoTerminal(at(), { NO_COLOR: '1' });
    await terminal.shows(PROMPT);
    terminal.type('stream\n');
    const turn = await terminal.shows(/one two three four\r\n.*> /s);
    expect(turn).not.toMatch(/Task:|Context:|State:|Artifact:|Text:/);
    terminal.type(CTRL_D);
    const { said, code } = await terminal.waitForEnd();
    expect(said).toMatch(
      /Task: \S+\r\nContext: \S+\r\nState: COMPLETED\r\nResume: parley send .*--context-id \S+ "<message>"/,
    );
    expect(code).toBe(0);
  });

  it.for(cases)('shows ids after each turn with --verbose', async () => {
    await using terminal = new PseudoTerminal([...at(), '--verbose']);
    await terminal.shows(PROMPT);
    terminal.type('hello\n');
    await terminal.shows(/You said: hello\r\n.*Task: \S+\r\nContext: \S+\r\nState: COMPLETED\r\n.*> /s);
  });

  it.for(cases)('shows only new content after a reply', async () => {
    await using terminal = new PseudoTerminal(at());
    await terminal.shows(PROMPT);
    terminal.type('ask\n');
    await terminal.shows(/What is your name\?\r\n.*> /s);
    terminal.type('Ada\n');
    expect(await terminal.shows(/Hello, Ada\r\n.*> /s)).not.toContain('What is your name?');
  });

  it.for(cases)('Ctrl-C cancels the turn, and without a turn ends the conversation', async () => {
    await using terminal = new PseudoTerminal(at());
    await terminal.shows(PROMPT);
    terminal.type('slow 600\n');
    await terminal.shows(/working: This takes a while · \d+ s · Ctrl-C cancels/);
    terminal.type(CTRL_C);
    await terminal.shows(/Canceled\.\r\n.*> /s);
    terminal.type('hello\n');
    await terminal.shows(/You said: hello\r\n.*> /s);
    terminal.type(`forgotten${CTRL_C}`);
    terminal.type('again\n');
    await terminal.shows(/You said: again\r\n.*> /s);
    terminal.type(CTRL_C);
    const { said, code } = await terminal.waitForEnd();
    expect(said).toMatch(/Resume: parley send .*--context-id/);
    expect(code).toBe(130);
    const { tasks } = await parleyJson<{ tasks: { status: { state: string } }[] }>([
      ...['task', 'list', '--status', 'canceled', '-a', demo.url],
    ]);
    expect(tasks).toHaveLength(1);
  });

  it.for(cases)('a second Ctrl-C ends the conversation without waiting for the cancellation', async () => {
    const working = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
    const answer: Answer = ({ body }) =>
      body.method === 'CancelTask'
        ? { body: { jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'not this one' } } }
        : result(body.method === 'GetTask' ? working : { task: working });
    await using agent = await RecordingAgent.start({ answer });
    await using terminal = new PseudoTerminal(['chat', '-a', agent.url, '--poll-interval', '50ms']);
    await terminal.shows(PROMPT);
    terminal.type('x\n');
    await terminal.shows(/calling|working/);
    terminal.type(CTRL_C);
    await terminal.shows(/The task is not canceled: TaskNotCancelableError/);
    terminal.type(CTRL_C);
    const { said, code } = await terminal.waitForEnd();
    expect(said).toMatch(/Resume: parley task get t-1 --wait/);
    expect(code).toBe(130);
  });

  it.for(cases)('an error does not end the conversation', async () => {
    let calls = 0;
    const answer: Answer = () => {
      calls += 1;
      if (calls === 1) return { status: 500, body: 'broken' };
      return result({ message: { messageId: 'm', role: 'ROLE_AGENT', contextId: 'c-1', parts: [{ text: 'fine' }] } });
    };
    await using agent = await RecordingAgent.start({ answer });
    await using terminal = new PseudoTerminal(['chat', '-a', agent.url]);
    await terminal.shows(PROMPT);
    terminal.type('x\n');
    await terminal.shows(/error:.* InternalError.*> /s);
    terminal.type('y\n');
    await terminal.shows(/fine\r\n/);
  });

  it.for(cases)('supports /task, /cancel, /file and /help, and refuses unknown commands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-chat-'));
    try {
      writeFileSync(join(folder, 'notes.txt'), 'hello');
      await using terminal = new PseudoTerminal(at());
      await terminal.shows(PROMPT);
      terminal.type('/help\n');
      await terminal.shows(/\/file <path\|url>.*\/cancel.*> /s);
      terminal.type('/nonsense\n');
      await terminal.shows(/There is no \/nonsense.*> /s);
      terminal.type('/cancel\n');
      await terminal.shows(/No task runs or waits\..*> /s);
      terminal.type(`/file ${folder}/gone\n`);
      await terminal.shows(/A2ACLI_ERR_USAGE: --file .*gone.*> /s);
      terminal.type(`/file ${folder}/notes.txt\n`);
      await terminal.shows(/\(notes\.txt\) > /);
      terminal.type('data\n');
      await terminal.shows(/"parts": 2.*> /s);
      terminal.type('ask\n');
      await terminal.shows(/What is your name\?.*> /s);
      terminal.type('/task\n');
      await terminal.shows(/Task: \S+\r\nContext: \S+\r\nState: INPUT_REQUIRED.*> /s);
      terminal.type('/cancel\n');
      await terminal.shows(/Canceled\..*> /s);
      terminal.type('//slashes\n');
      await terminal.shows(/You said: \/slashes.*> /s);
      terminal.type('/exit\n');
      expect((await terminal.waitForEnd()).code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const answerText =
    (text: string): Answer =>
    () =>
      stream({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } });
  const card = { capabilities: { streaming: true } };

  it.for(cases)(
    'Markdown becomes colours unless NO_COLOR is set, and control characters of the agent are escaped',
    async () => {
      const answer = answerText('# Title\n**bold** \u001b[2J\u009b31m`code`');
      await using agent = await RecordingAgent.start({ card, answer });
      await using styled = new PseudoTerminal(['chat', '-a', agent.url]);
      await styled.shows(PROMPT);
      styled.type('x\n');
      const shown = await styled.shows(/code.*\r\n/);
      expect(shown).toContain(
        '\u001b[0;1mTitle\u001b[0m\r\n\u001b[0;1mbold\u001b[0m \\u001b[2J\\u009b31m\u001b[0;36mcode\u001b[0m',
      );
      await using plain = new PseudoTerminal(['chat', '-a', agent.url], { NO_COLOR: '1' });
      await plain.shows(PROMPT);
      plain.type('x\n');
      await plain.shows(/# Title\r\n\*\*bold\*\* \\u001b\[2J\\u009b31m`code`\r\n/);
    },
  );
});

describe('a conversation in a pipe', () => {
  it('continues after an error, prints plain labels, and ends with the exit code of the error', async () => {
    const { stdout, stderr, code } = await parley(['chat', '-a', demo.url, '--task-id', 'gone'], {
      input: 'x\n/hello\n',
    });
    expect(stderr).toMatch(/error: TaskNotFoundError/);
    expect(stdout).toMatch(/Text:\nYou said: \/hello\n\nState: COMPLETED\nTask: \S+\nContext: \S+\nState: COMPLETED\n/);
    expect(code).toBe(1);
  });

  it('prints each artifact of a continued task once', async () => {
    const task = (state: string, ...texts: readonly string[]) => ({
      task: {
        ...{ id: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}` } },
        artifacts: texts.map((text, at) => ({ artifactId: `a-${at}`, parts: [{ text }] })),
      },
    });
    const answers = [task('INPUT_REQUIRED', 'first'), task('COMPLETED', 'first', 'second')];
    await using agent = await RecordingAgent.start({ answer: () => result(answers.shift()) });
    const { stdout } = await parley(['chat', '-a', agent.url], { input: 'x\ny\n' });
    expect(stdout.match(/first/g)).toHaveLength(1);
    expect(stdout).toContain('second');
  });

  it.each([
    ['chat', ['chat'], { input: 'x\n' }],
    ['send --stream', ['send', 'x', '--stream'], {}],
  ])('prints a text once if its last update repeats it: %s', async (_name, args, options) => {
    const ids = { taskId: 't-1', contextId: 'c-1' };
    const status = (state: string) => ({ state: `TASK_STATE_${state}` });
    const update = (text: string, flags: object) => ({
      artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text }] }, ...flags },
    });
    const events = [
      { task: { id: 't-1', contextId: 'c-1', status: status('WORKING') } },
      update('One ', {}),
      update('two ', { append: true }),
      update('One two three', { append: false, lastChunk: true }),
      { statusUpdate: { ...ids, status: status('COMPLETED') } },
    ];
    await using agent = await RecordingAgent.start({
      card: { capabilities: { streaming: true } },
      answer: () => stream(...events),
    });
    const { stdout } = await parley([...args, '-a', agent.url], options);
    expect(stdout).toContain('One two three');
    expect(stdout.match(/One/g)).toHaveLength(1);
    expect(stdout.match(/Text:/g)?.length ?? 1).toBe(1);
  });
});
