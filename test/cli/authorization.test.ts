import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmptyFolder, parley, parleyJson, RunningParley, ServedAgent } from './parley.js';
import { RecordingAgent, result } from './recording-agent.js';

interface Task {
  readonly id: string;
  readonly status: { readonly state: string };
}

/** An agent that requests two logins: its task continues after the first, and ends after the second. */
const AGENT = `
  import { createServer } from 'node:http';
  import { once } from 'node:events';

  const visited = new Map();
  const visit = (path) => {
    if (!visited.has(path)) visited.set(path, Promise.withResolvers());
    return visited.get(path);
  };
  const doors = createServer(({ url }, response) => {
    visit(url).resolve();
    response.end('Welcome');
  });
  doors.listen(0, '127.0.0.1');
  await once(doors, 'listening');

  export const agent = {
    name: 'Doors',
    agent: {
      replies: 'task',
      async execute({ taskId }, events) {
        await events.working();
        for (const door of ['first', 'second']) {
          const path = '/' + taskId + '/' + door;
          await events.authRequired('Sign in at http://127.0.0.1:' + doors.address().port + path);
          await visit(path).promise;
        }
        await events.artifact('let in', { name: 'result' });
        await events.complete();
      },
    },
  };
`;

describe('AUTH_011: a task that asks for authorization', () => {
  const folder = new EmptyFolder();
  let agent: ServedAgent;
  beforeAll(async () => {
    const path = join(folder.path, 'agent.mjs');
    writeFileSync(path, AGENT);
    agent = await ServedAgent.start(['serve', path, '--quiet']);
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** Opens each address that the tool prints, as the user would. */
  async function signIn(running: RunningParley): Promise<void> {
    for (const door of ['first', 'second']) {
      const address = await running.waitForStderr(new RegExp(`Sign in at (\\S+/${door})`));
      await fetch(address);
    }
  }

  it.each([[[]], [['--stream']]])('ends send with the command that follows the task (%j)', async (flags) => {
    const { code, stdout, stderr } = await parley(['send', '-a', agent.url, 'let me in', ...flags]);
    expect(stdout).toMatch(/^State: AUTH_REQUIRED$/m);
    expect(stdout).toMatch(/Sign in at http:/);
    const id = /^Task: (\S+)$/m.exec(stdout)?.[1];
    expect(stderr).toContain(
      `to follow it after that: parley task get ${id} --wait --agent-card ${agent.url} --await-auth`,
    );
    expect(code).toBe(0);
  });

  it.each(['--await-auth', '--stream'])('excludes --async together with %s', async (flag) => {
    const { code, stdout, stderr } = await parley(['send', '-a', agent.url, 'let me in', '--async', flag]);
    expect(stderr).toMatch(new RegExp(`A2ACLI_ERR_USAGE: --async and ${flag} exclude each other`));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('continues during the wait of send once the user has signed in', async () => {
    await using running = new RunningParley(['send', '-a', agent.url, 'let me in', '--await-auth', '-o', 'json']);
    await signIn(running);
    const { code, stdout, stderr } = await running.ended;
    expect(JSON.parse(stdout)).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'let in' }] }] },
    });
    expect(stderr.match(/The agent asks for authorization/g)).toHaveLength(2);
    expect(stderr).toMatch(/Ctrl-C leaves the task running/);
    expect(code).toBe(0);
  });

  it('continues during the wait of task get', async () => {
    const { task } = await parleyJson<{ task: Task }>(['send', '-a', agent.url, 'let me in']);
    await using running = new RunningParley(['task', 'get', task.id, '-a', agent.url, '--await-auth']);
    await signIn(running);
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/^State: COMPLETED$/m);
    expect(stdout).toMatch(/^Text:\nlet in$/m);
    expect(code).toBe(0);
  });

  it.each(['send', 'task subscribe'])('continues in the stream of %s', async (command) => {
    const started = await parleyJson<{ task: Task }>(['send', '-a', agent.url, 'let me in']);
    const target = command === 'send' ? ['send', 'let me in'] : ['task', 'subscribe', started.task.id];
    await using running = new RunningParley([...target, '-a', agent.url, '--await-auth', '--stream', '-o', 'json']);
    for (const door of ['first', 'second'])
      await fetch(await running.waitForStdout(new RegExp(`Sign in at (http:[^"]+/${door})`)));
    const { code, stdout } = await running.ended;
    const events = stdout.trimEnd().split('\n');
    expect(events.at(-1)).toContain('TASK_STATE_COMPLETED');
    expect(events.filter((event) => event.includes('AUTH_REQUIRED'))).toHaveLength(2);
    expect(code).toBe(0);
  });

  it('is polled if the agent has no streams', async () => {
    const states = ['AUTH_REQUIRED', 'AUTH_REQUIRED', 'AUTH_REQUIRED', 'COMPLETED'];
    const taskIn = (state = 'COMPLETED') => ({ id: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}` } });
    await using recorder = await RecordingAgent.start({
      answer: ({ body }) => {
        const task = taskIn(states.shift());
        return result(body.method === 'GetTask' ? task : { task });
      },
    });
    const args = ['send', '-a', recorder.url, 'x', '--await-auth', '--poll-interval', '50ms'];
    const { code, stdout, stderr } = await parley(args);
    expect(stdout).toMatch(/^State: COMPLETED$/m);
    expect(stderr).toContain('(it does not say which)');
    expect(code).toBe(0);
  });

  it('can also be answered by a message, and another waiting call returns the result', async () => {
    await using demo = await ServedAgent.start(['demo-server', '--quiet']);
    await using waiting = new RunningParley(['send', '-a', demo.url, 'auth', '--await-auth', '-o', 'json']);
    const id = await waiting.waitForStderr(/^Task: (\S+)$/m);
    await waiting.waitForStderr(/Sign in first/);
    const { task } = await parleyJson<{ task: Task }>(['send', '-a', demo.url, '--task-id', id, 'I have signed in']);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.parse((await waiting.ended).stdout)).toMatchObject({
      task: { id, status: { state: 'TASK_STATE_COMPLETED' } },
    });
  });

  it('ends the wait at --timeout, with the command that waits again', async () => {
    const sendFor = (limit: string) =>
      parley(['send', '-a', agent.url, 'let me in', '--await-auth', '--timeout', limit]);
    let { code, stderr } = await sendFor('2s');
    // A machine that stands still uses up the time before there is a task to wait for.
    if (!stderr.includes('parley task get')) ({ code, stderr } = await sendFor('10s'));
    expect(stderr).toContain('A2ACLI_ERR_TIMEOUT');
    expect(stderr).toMatch(/parley task get \S+ --wait/);
    expect(code).toBe(5);
  });
});
