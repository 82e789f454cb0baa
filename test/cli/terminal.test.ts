import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, PARLEY, RunningParley } from './parley.js';
import { type Answer, RecordingAgent, result } from './recording-agent.js';

/** A terminal of util-linux, where there is one. */
function hasTerminal(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

const working = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
const silent: Answer = ({ body }) => result(body.method === 'GetTask' ? working : { task: working });

/** Runs a command on a terminal; `until` ends it by Ctrl-C once it has been printed. */
async function onTerminal(args: readonly string[], env: Record<string, string>, until?: RegExp): Promise<string> {
  using home = new EmptyFolder();
  const { PATH = '' } = process.env;
  const command = [process.execPath, PARLEY, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH, HOME: home.path, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  let sent = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (until === undefined || sent || !until.test(said)) return;
    sent = true;
    child.stdin.write('\u0003');
  });
  await once(child, 'close');
  return said;
}

describe('on a terminal', () => {
  // Without a terminal there is nothing to look at.
  const cases = hasTerminal() ? ['script'] : [];

  it.for(cases)('a line shows that it goes on, and Ctrl-C leaves the task running', async () => {
    await using agent = await RecordingAgent.start({ answer: silent });
    const args = ['send', '-a', agent.url, 'x', '--poll-interval', '100ms'];
    const said = await onTerminal(args, {}, /working · \d+ s · Ctrl-C leaves the task running/);
    expect(said).toMatch(/Task: t-1/);
    expect(said).toContain('\u001b[K');
    expect(said).toMatch(/the task goes on\. Back to it: parley task get t-1 --wait/);
    expect(agent.calls.map(({ body }) => body.method)).not.toContain('CancelTask');
  });

  it.for(cases)('conformance shows which check is being made', async () => {
    await using agent = await RecordingAgent.start();
    const said = await onTerminal(['conformance', '-a', agent.url, '--timeout', '5s'], {});
    expect(said).toContain('\rJSONRPC 1.0: SendMessage answers with a task or a message\u001b[K');
  });

  it.for(cases)('errors are coloured, unless NO_COLOR is set', async () => {
    expect(await onTerminal(['nonsense'], {})).toContain('\u001b[1;31merror:');
    expect(await onTerminal(['nonsense'], { NO_COLOR: '1' })).not.toContain('\u001b[');
  });
});

it('OUT_005: in a pipe there is no line of progress and no colour', async () => {
  await using agent = await RecordingAgent.start({ answer: silent });
  const args = ['send', '-a', agent.url, 'x', '--poll-interval', '100ms', '--timeout', '2500ms'];
  const { stdout, stderr } = await new RunningParley(args, { env: { NO_COLOR: '' } }).ended;
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Task: t-1\nContext: c-1\nerror: A2ACLI_ERR_TIMEOUT: .*\nhint: .*\n$/);
});
