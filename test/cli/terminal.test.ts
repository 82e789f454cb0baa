import { describe, expect, it } from 'vitest';
import { RunningParley } from './parley.js';
import { CTRL_C, PseudoTerminal, terminalCases } from './pseudo-terminal.js';
import { type Answer, RecordingAgent, result } from './recording-agent.js';

const working = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
const silent: Answer = ({ body }) => result(body.method === 'GetTask' ? working : { task: working });

describe('on a terminal', () => {
  // Without a terminal there is nothing to look at.
  const cases = terminalCases();

  it.for(cases)('a line shows that it goes on, and Ctrl-C leaves the task running', async () => {
    await using agent = await RecordingAgent.start({ answer: silent });
    const args = ['send', '-a', agent.url, 'x', '--poll-interval', '100ms'];
    await using terminal = new PseudoTerminal(args);
    await terminal.shows(/working · \d+ s · Ctrl-C leaves the task running/);
    terminal.type(CTRL_C);
    const { said } = await terminal.ended();
    expect(said).toMatch(/Task: t-1/);
    expect(said).toContain('\u001b[K');
    expect(said).toMatch(/the task continues\. To follow it: parley task get t-1 --wait/);
    expect(agent.calls.map(({ body }) => body.method)).not.toContain('CancelTask');
  });

  it.for(cases)('conformance shows which check is being made', async () => {
    await using agent = await RecordingAgent.start();
    await using terminal = new PseudoTerminal(['conformance', '-a', agent.url, '--timeout', '5s']);
    const { said } = await terminal.ended();
    expect(said).toContain('\rJSONRPC 1.0: SendMessage answers with a task or a message\u001b[K');
  });

  it.for(cases)('errors are coloured, unless NO_COLOR is set', async () => {
    await using coloured = new PseudoTerminal(['nonsense']);
    expect((await coloured.ended()).said).toContain('\u001b[1;31merror:');
    await using plain = new PseudoTerminal(['nonsense'], { NO_COLOR: '1' });
    expect((await plain.ended()).said).not.toContain('\u001b[');
  });
});

it('OUT_005: in a pipe there is no line of progress and no colour', async () => {
  await using agent = await RecordingAgent.start({ answer: silent });
  const args = ['send', '-a', agent.url, 'x', '--poll-interval', '100ms', '--timeout', '2500ms'];
  const { stdout, stderr } = await new RunningParley(args, { env: { NO_COLOR: '' } }).ended;
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Task: t-1\nContext: c-1\nerror: A2ACLI_ERR_TIMEOUT: .*\nhint: .*\n$/);
});
