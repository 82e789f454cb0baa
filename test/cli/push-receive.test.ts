import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentKinds, type LiveAgent } from './agents/agents.js';
import { parley, parleyJson, RunningParley } from './parley.js';

interface Task {
  readonly id: string;
  readonly contextId: string;
}

const status = (state: string, more: object = {}) => ({
  statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}`, ...more } },
});

/** Starts a receiver. Returns it with its url. */
async function receiver(...flags: readonly string[]) {
  const running = new RunningParley(['push', 'receive', '--port', '0', ...flags]);
  const url = await running.waitForStderr(/^Webhook: (\S+)$/m);
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { running, url, post, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

describe('PUSH_002: a webhook on this machine', () => {
  let agent: LiveAgent;
  beforeAll(async () => {
    // The notifications come from the official JavaScript SDK.
    agent = (await agentKinds()[1]?.start()) as LiveAgent;
  });
  afterAll(() => agent[Symbol.asyncDispose]());

  /** Registers a webhook for a task that waits for input, and completes the task. */
  async function notifyTask(url: string, ...flags: readonly string[]): Promise<Task> {
    const { task } = await parleyJson<{ task: Task }>(['send', '-a', agent.url, 'ask']);
    const created = await parley(['task', 'push-config', 'create', task.id, '-a', agent.url, '--url', url, ...flags]);
    expect(created.code).toBe(0);
    await parley(['send', '-a', agent.url, '--task-id', task.id, 'Ada']);
    return task;
  }

  it('prints notifications of an agent on the official SDK, and ends with Ctrl-C', async () => {
    await using hook = await receiver('--token', 'pl4nted-s3cret-token');
    const { id, contextId } = await notifyTask(hook.url, '--token', 'pl4nted-s3cret-token');
    await hook.running.waitForStdout(/^State: COMPLETED$/m);
    const { code, stdout, stderr } = await hook.running.stop('SIGINT');
    expect(stdout).toMatch(
      new RegExp(`^Task: ${id}\\nContext: ${contextId}\\nArtifact: greeting\\nText:\\nHello, Ada$`, 'm'),
    );
    expect(stdout).toMatch(new RegExp(`^Task: ${id}\\nContext: ${contextId}\\nState: COMPLETED$`, 'm'));
    expect(stderr).toContain(`parley task push-config create <task> --url ${hook.url}`);
    expect(stdout + stderr).not.toContain('pl4nted-s3cret-token');
    expect(code).toBe(0);
  });

  it('prints one notification per line in the form of the protocol with -o json', async () => {
    await using hook = await receiver('-o', 'json');
    const { id } = await notifyTask(hook.url);
    await hook.running.waitForStdout(/TASK_STATE_COMPLETED/);
    const { stdout } = await hook.running.stop();
    const notifications = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(notifications.at(-1)).toMatchObject({
      statusUpdate: { taskId: id, status: { state: 'TASK_STATE_COMPLETED' } },
    });
  });

  it('accepts only notifications with the token and the credentials of its flags', async () => {
    await using hook = await receiver('--token', 'right', '--auth-scheme', 'Bearer', '--auth-credentials', 'key');
    const token = { 'X-A2A-Notification-Token': 'right' };
    const refused = await Promise.all([
      hook.post(status('WORKING')),
      hook.post(status('WORKING'), { ...token, Authorization: 'Bearer other' }),
      hook.post(status('WORKING'), { 'X-A2A-Notification-Token': 'wrong', Authorization: 'Bearer key' }),
    ]);
    expect(refused.map((response) => response.status)).toEqual([401, 401, 401]);
    expect(refused[0]?.headers.get('www-authenticate')).toBe('Bearer');
    expect((await hook.post(status('COMPLETED'), { ...token, Authorization: 'Bearer key' })).status).toBe(204);
    const { stdout, stderr } = await hook.running.stop();
    expect(stdout).toBe('Task: t-1\nContext: c-1\nState: COMPLETED\n');
    expect(stderr.match(/a request was refused: 401/g)).toHaveLength(3);
  });

  it('refuses invalid notifications with a reason', async () => {
    await using hook = await receiver('-o', 'json');
    for (const [body, code, reason] of [
      ['{', 400, 'the body is no JSON'],
      ['null', 400, 'none, or several, of'],
      [{ kind: 'task', id: 't-1' }, 400, 'status'],
      [{ ...status('WORKING'), task: {} }, 400, 'none, or several, of'],
      [{ statusUpdate: { taskId: 't-1', contextId: 'c-1' } }, 400, 'statusUpdate.status is missing'],
      [' '.repeat(17 * 1024 * 1024), 413, 'more than 16777216 bytes'],
    ] as const) {
      const response = await hook.post(body);
      expect(response.status).toBe(code);
      expect(await response.text()).toContain(reason);
    }
    expect((await fetch(hook.url)).status).toBe(405);
    expect((await hook.post({ statusUpdate: { ...status('WORKING').statusUpdate, news: 1 } })).status).toBe(204);
    expect((await hook.running.stop()).stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('prints a repeated notification once, also in 0.3', async () => {
    await using hook = await receiver('-o', 'json');
    const task = { kind: 'task', id: 't-1', contextId: 'c-1', status: { state: 'completed' } };
    for (const id of ['a', 'a', 'b']) expect((await hook.post(task, { 'X-A2A-Notification-Id': id })).status).toBe(204);
    const lines = (await hook.running.stop()).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).task.status.state)).toEqual(Array(2).fill('TASK_STATE_COMPLETED'));
  });

  it('refuses other content types, and without a secret other hosts than this machine', async () => {
    await using hook = await receiver();
    expect((await hook.post(status('WORKING'), { 'content-type': 'text/plain' })).status).toBe(415);
    const asked = request(hook.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', host: `evil.example:${new URL(hook.url).port}` },
    });
    asked.end(JSON.stringify(status('WORKING')));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(421);
    const { stdout, stderr } = await hook.running.stop();
    expect(stdout).toBe('');
    expect(stderr).toContain('with --token every host is taken');
  });

  it('prints equal notifications without an id again, and escapes control characters', async () => {
    await using hook = await receiver();
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'red \u001b[31m' }] };
    await hook.post(status('WORKING', { message }));
    await hook.post(status('WORKING', { message }));
    const { stdout } = await hook.running.stop();
    expect(stdout).toBe('Task: t-1\nContext: c-1\nState: WORKING\nMessage:\nred \\u001b[31m\n\n'.repeat(2));
  });

  it('refuses wrong flags with a remedy', async () => {
    const half = await parley(['push', 'receive', '--auth-scheme', 'Bearer']);
    expect(half.stderr).toContain('--auth-scheme and --auth-credentials go together');
    expect(half.code).toBe(2);
    await using hook = await receiver();
    const taken = await parley(['push', 'receive', '--port', new URL(hook.url).port]);
    expect(taken.stderr).toMatch(/port \d+ is taken/);
    expect(taken.code).toBe(1);
  });
});
