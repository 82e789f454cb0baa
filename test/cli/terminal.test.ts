import { describe, expect, it } from 'vitest';
import { parley } from './parley.js';
import { CTRL_C, PseudoTerminal, terminalCases } from './pseudo-terminal.js';
import { type Answer, RecordingAgent, result, stream } from './recording-agent.js';

const working = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
const silent: Answer = ({ body }) => result(body.method === 'GetTask' ? working : { task: working });

describe('on a terminal', () => {
  // A machine without a terminal has no cases.
  const cases = terminalCases();

  it.for(cases)('a progress line is shown, and Ctrl-C leaves the task running', async () => {
    await using agent = await RecordingAgent.start({ answer: silent });
    const args = ['send', '-a', agent.url, 'x', '--poll-interval', '100ms'];
    await using terminal = new PseudoTerminal(args);
    await terminal.shows(/working · \d+ s · Ctrl-C leaves the task running/);
    terminal.type(CTRL_C);
    const { said } = await terminal.waitForEnd();
    expect(said).toMatch(/Task: t-1/);
    expect(said).toContain('\u001b[K');
    expect(said).toMatch(/the task continues\. To follow it: parley task get t-1 --wait/);
    expect(agent.calls.map(({ body }) => body.method)).not.toContain('CancelTask');
  });

  it.for(cases)('conformance shows the current check', async () => {
    await using agent = await RecordingAgent.start();
    await using terminal = new PseudoTerminal(['conformance', '-a', agent.url, '--timeout', '5s']);
    const { said } = await terminal.waitForEnd();
    expect(said).toContain('\rJSONRPC 1.0: SendMessage answers with a task or a message\u001b[K');
  });

  it.for(cases)('errors are coloured, unless NO_COLOR is set', async () => {
    await using coloured = new PseudoTerminal(['nonsense']);
    expect((await coloured.waitForEnd()).said).toContain('\u001b[1;31merror:');
    await using plain = new PseudoTerminal(['nonsense'], { NO_COLOR: '1' });
    expect((await plain.waitForEnd()).said).not.toContain('\u001b[');
  });
});

describe('send on a terminal', () => {
  const cases = terminalCases();
  const capabilities = { streaming: true };
  const said = '# Tea\n**Assam** \u001b[2J\u009b31m[more](https://tea.example)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';
  const artifact = (text: string) => ({ artifactId: 'a', parts: [{ text }] });
  const update = (text: string) => ({ taskId: 't-1', contextId: 'c-1', artifact: artifact(text), append: true });
  const status = (state: string) => ({ taskId: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}` } });
  const streamTask = (state: string) =>
    stream(
      { task: working },
      { artifactUpdate: update(said.slice(0, 20)) },
      { artifactUpdate: update(said.slice(20)) },
      { statusUpdate: status(state) },
    );
  const shown = [
    '\u001b[0;1mTea\u001b[0m\r\n\u001b[0;1mAssam\u001b[0m \\u001b[2J\\u009b31mmore (https://tea.example)\r\n\r\n',
    '\u001b[0;1ma\u001b[0m  \u001b[0;1mb\u001b[0m\r\n─  ─\r\n1  2\r\n',
  ].join('');
  const end =
    /\nTask: t-1\r\nContext: c-1\r\nState: COMPLETED\r\nResume: parley send .*--context-id c-1 "<message>"\r\n$/;

  it.for(cases)('shows Markdown as it arrives, like chat, and the ids and the state once', async () => {
    await using agent = await RecordingAgent.start({ card: { capabilities }, answer: () => streamTask('COMPLETED') });
    await using terminal = new PseudoTerminal(['send', 'x', '-a', agent.url]);
    const all = (await terminal.waitForEnd()).said;
    expect(agent.calls.map(({ body }) => body.method)).toEqual(['SendStreamingMessage']);
    expect(all).toContain(shown);
    expect(all).toMatch(end);
    expect(all.split('COMPLETED')).toHaveLength(2);
    expect(all).not.toMatch(/Artifact:|Text:/);
    await using chat = new PseudoTerminal(['chat', '-a', agent.url]);
    await chat.shows(/> /);
    chat.type(`x\n`);
    expect(await chat.shows(/1 {2}2\r\n/)).toContain(shown);
  });

  it.for(cases)('shows links if the terminal supports them', async () => {
    await using agent = await RecordingAgent.start({ card: { capabilities }, answer: () => streamTask('COMPLETED') });
    await using terminal = new PseudoTerminal(['send', 'x', '-a', agent.url], { TERM_PROGRAM: 'WezTerm' });
    expect((await terminal.waitForEnd()).said).toContain('\u001b]8;;https://tea.example\u001b\\more\u001b]8;;\u001b\\');
  });

  it.for(cases)('prints the same answer of an agent without streaming', async () => {
    const task = {
      id: 't-1',
      contextId: 'c-1',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [artifact(said)],
    };
    await using agent = await RecordingAgent.start({ answer: () => result({ task }) });
    await using terminal = new PseudoTerminal(['send', 'x', '-a', agent.url]);
    const all = (await terminal.waitForEnd()).said;
    expect(all).toContain(shown);
    expect(all).toMatch(end);
  });

  it.for(cases)('prints a failure once, and a question unchanged', async () => {
    await using failing = await RecordingAgent.start({ card: { capabilities }, answer: () => streamTask('FAILED') });
    await using failed = new PseudoTerminal(['send', 'x', '-a', failing.url]);
    const failure = (await failed.waitForEnd()).said;
    expect(failure).toContain('the task is FAILED');
    expect(failure.split('FAILED')).toHaveLength(2);
    const answer = () => streamTask('INPUT_REQUIRED');
    await using asking = await RecordingAgent.start({ card: { capabilities }, answer });
    await using asked = new PseudoTerminal(['send', 'x', '-a', asking.url]);
    expect((await asked.waitForEnd()).said).toMatch(/State: INPUT_REQUIRED\r\nResume: .*--task-id t-1 "<reply>"\r\n$/);
  });

  it.for(cases)('--stream prints each event, and the last state once', async () => {
    await using agent = await RecordingAgent.start({ card: { capabilities }, answer: () => streamTask('COMPLETED') });
    await using terminal = new PseudoTerminal(['send', 'x', '--stream', '-a', agent.url]);
    const all = (await terminal.waitForEnd()).said;
    expect(all).toMatch(/State: WORKING\r\n.*Artifact: a\r\n.*State: COMPLETED\r\nResume: /s);
    expect(all.split('State: COMPLETED')).toHaveLength(2);
  });
});

it('OUT_005: a pipe gets no progress line and no colours', async () => {
  await using agent = await RecordingAgent.start({ answer: silent });
  const sendFor = (limit: string) => {
    const args = ['send', '-a', agent.url, 'x', '--poll-interval', '100ms', '--timeout', limit];
    return parley(args, { env: { NO_COLOR: '' } });
  };
  let { stdout, stderr } = await sendFor('2500ms');
  // A machine that stands still uses up the time before there is a task.
  if (!stderr.includes('t-1')) ({ stdout, stderr } = await sendFor('10s'));
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Task: t-1\nContext: c-1\nerror: A2ACLI_ERR_TIMEOUT: .*\nhint: .*\n$/);
});
