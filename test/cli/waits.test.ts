import { describe, expect, it } from 'vitest';
import { parley, RunningParley } from './parley.js';
import { type Answer, RecordingAgent, result, stream } from './recording-agent.js';

describe('VER_003: the card is checked before a capability is used', () => {
  it('push configurations, extended cards and streams are not requested if the card lacks them', async () => {
    await using agent = await RecordingAgent.start();
    for (const args of [
      ['task', 'push-config', 'list', 't'],
      ['task', 'push-config', 'create', 't', '--url', 'https://example.com'],
      ['card', 'get', '--extended'],
      ['task', 'subscribe', 't'],
    ]) {
      const { code, stderr } = await parley([...args, '-a', agent.url]);
      expect(stderr).toMatch(/the card of the agent offers no|the agent does not stream/);
      expect(code).not.toBe(0);
    }
    expect(agent.calls).toEqual([]);
  });

  it('SEND_003: --stream polls an agent without streams, and prints lines too', async () => {
    const states = ['WORKING', 'WORKING', 'COMPLETED'];
    const task = () => ({
      id: 't-1',
      contextId: 'c-1',
      status: { state: `TASK_STATE_${states.shift() ?? 'COMPLETED'}` },
    });
    await using agent = await RecordingAgent.start({
      answer: ({ body }) => result(body.method === 'GetTask' ? task() : { task: task() }),
    });
    const { stdout, code } = await parley([
      'send',
      '-a',
      agent.url,
      'x',
      '--stream',
      '-o',
      'json',
      '--poll-interval',
      '50ms',
    ]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { task: { status: { state: string } } });
    expect(lines.map(({ task: { status } }) => status.state)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(agent.calls.map(({ body }) => body.method)).not.toContain('SendStreamingMessage');
    expect(code).toBe(0);
  });
});

describe('DEFAULT_001: the defaults', () => {
  it('TASK_POLL_003: an unspecified state is polled again, and a question ends the wait', async () => {
    const states = ['UNSPECIFIED', 'WORKING', 'UNSPECIFIED', 'INPUT_REQUIRED'];
    const task = () => ({ id: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${states.shift()}` } });
    await using agent = await RecordingAgent.start({
      answer: ({ body }) => result(body.method === 'GetTask' ? task() : { task: task() }),
    });
    const { stdout, code, stderr } = await parley(['send', '-a', agent.url, 'x', '--poll-interval', '50ms']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^State: INPUT_REQUIRED$/m);
    expect(stdout).toMatch(/^Resume: parley send --agent-card \S+ --task-id t-1 "<reply>"$/m);
    expect(stderr).toMatch(/warning: the task waits for your reply/);
    expect(states).toEqual([]);
  });

  it('TASK_POLL_002: the first poll follows --poll-interval, and later intervals grow', async () => {
    const at: number[] = [];
    const task = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
    const answer: Answer = ({ body }) => {
      if (body.method !== 'GetTask') return result({ task });
      at.push(performance.now());
      return result({ ...task, status: { state: at.length < 5 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED' } });
    };
    await using agent = await RecordingAgent.start({ answer });
    expect((await parley(['send', '-a', agent.url, 'x', '--poll-interval', '200ms'])).code).toBe(0);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThan(80);
    // At least 337 ms, and 200 ms at most without growth. A machine that stands still makes waits longer only.
    expect(waits.at(-1)).toBeGreaterThan(300);
  });

  it('are in the help, each with its flag', async () => {
    const { stdout } = await parley(['help', 'send']);
    for (const shown of [
      /--transport <binding> .*default: the order of the card/,
      /--output <format> .*default: text/,
      /--a2a-version <version> .*default: highest 1\.x/,
      /--async /,
      /--verbose /,
      /--insecure /,
    ])
      expect(stdout).toMatch(shown);
  });
});

it('control characters of an agent do not reach the terminal', async () => {
  const evil = 'red \u001b[31mtext\u001b[0m\u0007 and\u009b2J more\r\nline';
  const answer: Answer = () => result({ message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: evil }] } });
  await using agent = await RecordingAgent.start({ answer, card: { name: evil, description: evil } });
  for (const args of [
    ['send', '-a', agent.url, 'x'],
    ['card', 'get', agent.url],
  ])
    expect((await parley(args)).stdout).not.toMatch(/[^\P{Cc}\n]/u);
});

it('TASK_POLL_002: Ctrl-C leaves the task running, and prints the command that follows it', async () => {
  const task = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
  await using agent = await RecordingAgent.start({
    answer: ({ body }) => result(body.method === 'GetTask' ? task : { task }),
  });
  await using running = new RunningParley(['send', '-a', agent.url, 'x', '--poll-interval', '50ms']);
  await running.waitForStderr(/Task: t-1/);
  const { code, stderr } = await running.stop('SIGINT');
  expect(stderr).toContain(`the task continues. To follow it: parley task get t-1 --wait --agent-card ${agent.url}`);
  expect(code).toBe(130);
  expect(agent.calls.map(({ body }) => body.method)).not.toContain('CancelTask');
});

describe('streams that break', () => {
  const card = { capabilities: { streaming: true } };
  const task = (state: string) => ({ id: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}` } });

  it('TASK_POLL_004: a wait polls after its stream failed', async () => {
    let looks = 0;
    const answer: Answer = ({ body }) => {
      if (body.method === 'SubscribeToTask') return { status: 500, body: 'broken' };
      if (body.method !== 'GetTask') return result({ task: task('WORKING') });
      looks++;
      return result(task(looks < 3 ? 'WORKING' : 'COMPLETED'));
    };
    await using agent = await RecordingAgent.start({ card, answer });
    const { stdout, code } = await parley(['send', '-a', agent.url, 'x', '--poll-interval', '50ms']);
    expect(stdout).toMatch(/^State: COMPLETED$/m);
    expect(agent.calls.map(({ body }) => body.method)).toContain('SubscribeToTask');
    expect(code).toBe(0);
  });

  it('TASK_SUBSCRIBE_002: a cut stream is resumed, and begins with the task', async () => {
    const states = ['WORKING', 'COMPLETED'];
    const answer: Answer = ({ body }) => {
      if (body.method === 'SubscribeToTask') return stream({ task: task(states.shift() ?? 'COMPLETED') });
      return result(task('COMPLETED'));
    };
    await using agent = await RecordingAgent.start({ card, answer });
    const { stdout, code } = await parley(['task', 'subscribe', 't-1', '--stream', '-o', 'json', '-a', agent.url]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { task: { status: { state: string } } });
    expect(lines.map(({ task: { status } }) => status.state)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(code).toBe(0);
  });
});
