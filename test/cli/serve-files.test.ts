import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { parley, RunningParley, ServedAgent } from './parley.js';

const KEY = 'pl4nted'.padEnd(43, 'A');

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-files-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function rpc(url: string, method: string, params: object) {
  const response = await fetch(new URL('/a2a/jsonrpc', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as { readonly result: never };
}

const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

describe('parley serve --audit-file', () => {
  it('appends a record of each call and each refusal', async () => {
    const file = join(folder(), 'logs', 'audit.jsonl');
    for (const run of [1, 2]) {
      await using agent = await ServedAgent.start(['serve', '--echo', '--audit-file', file]);
      await rpc(agent.url, 'GetTask', { id: `missing-${run}` });
      expect((await agent.running.stop()).code).toBe(0);
    }
    const records = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(records.map((line) => JSON.parse(line))).toMatchObject([
      { outcome: 'refused', code: 'TASK_NOT_FOUND', taskId: 'missing-1', address: '127.0.0.1' },
      { outcome: 'refused', code: 'TASK_NOT_FOUND', taskId: 'missing-2' },
    ]);
    expect(statSync(file).mode & 0o077).toBe(0);
  });
});

describe('parley serve --secret-keys-file', () => {
  it.each([
    ['the flag', (keys: string) => ['--secret-keys-file', keys], {}],
    ['A2A_SECRET_KEYS', () => [], { A2A_SECRET_KEYS: KEY }],
  ])('or a variable encrypts credentials of webhooks in the storage: %s', async (_, moreFlags, env) => {
    const path = folder();
    const keys = join(path, 'keys');
    writeFileSync(keys, `${KEY}\n`);
    const more = moreFlags(keys);
    const database = join(path, 'tasks.db');
    const flags = ['--database', `sqlite:${database}`, ...more];
    await using agent = await ServedAgent.start(['serve', '--echo', ...flags], { env: { ...env } });
    const taskPushNotificationConfig = { url: 'https://receiver.example/', token: 'pl4nted-s3cret-token' };
    await rpc(agent.url, 'SendMessage', { message, configuration: { taskPushNotificationConfig } });
    await agent.running.stop();
    using stored = new DatabaseSync(database);
    const tables = stored.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = tables.flatMap(({ name }) => stored.prepare(`SELECT * FROM "${name}"`).all());
    const text = JSON.stringify(rows);
    expect(text).toContain('parley-sealed');
    expect(text).not.toContain('receiver.example');
    expect(text).not.toContain('s3cret-token');
  });
});

describe('invalid files', () => {
  it.each([
    ['--audit-file', (path: string) => path, 'the audit log cannot be opened (EISDIR)'],
    ['--secret-keys-file', (path: string) => join(path, 'nowhere'), 'the keys cannot be read (ENOENT)'],
    ['--secret-keys-file', (path: string) => writeText(path, '\n'), 'holds no key'],
    ['--secret-keys-file', (path: string) => writeText(path, 'pl4nted-s3cret'), '32 bytes in base64 or hex'],
  ])('%s is refused, and nothing of the file is shown', async (flag, fileIn, problem) => {
    const { code, stdout, stderr } = await parley(['serve', '--echo', '--port', '0', flag, fileIn(folder())]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(problem);
    expect(stdout + stderr).not.toContain('s3cret');
  });

  it.each(['--api-keys-file', '--audit-file', '--secret-keys-file'])('%s is refused for a proxy', async (flag) => {
    const { code, stderr } = await parley(['serve', '--proxy', 'http://127.0.0.1:9', '--port', '0', flag, 'a.json']);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`${flag} does not go with --proxy`);
  });
});

describe('parley serve with variables that have no flag', () => {
  it('signs its card', async () => {
    const path = join(folder(), 'key.json');
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    writeFileSync(path, JSON.stringify({ ...key, kid: 'k1' }));
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const args = ['serve', '--echo', '--port', port, '--public-url', url];
    await using running = new RunningParley(args, { env: { A2A_CARD_KEYS: path } });
    await running.waitForStdout(/^URL: /m);
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({ signatures: [expect.anything()] });
  });

  it('trusts its proxy, accepts its public host, and allows the origin of a page', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo'], {
      env: {
        A2A_TRUST_PROXY: '127.0.0.1, ::1',
        A2A_PUBLIC_HOSTS: 'agents.example.com',
        A2A_CORS_ORIGINS: 'https://page.example',
      },
    });
    const response = await fetch(`${agent.url}/.well-known/agent-card.json`, {
      headers: {
        'x-forwarded-host': 'agents.example.com',
        'x-forwarded-proto': 'https',
        origin: 'https://page.example',
      },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe('https://page.example');
    const card = (await response.json()) as { readonly supportedInterfaces: readonly { readonly url: string }[] };
    expect(card.supportedInterfaces[0]?.url).toMatch(/^https:\/\/agents\.example\.com\//);
  });

  it.each([
    ['A2A_TRUST_PROXY', 'nonsense!'],
    ['A2A_API_KEYS', 'ada'],
  ])('refuses an invalid %s by its name', async (variable, value) => {
    const { code, stderr } = await parley(['serve', '--echo', '--port', '0'], { env: { [variable]: value } });
    expect([code, stderr]).toEqual([2, expect.stringContaining(variable)]);
  });

  it('refuses them for a proxy', async () => {
    const args = ['serve', '--proxy', 'http://127.0.0.1:9', '--port', '0'];
    const { code, stderr } = await parley(args, { env: { A2A_API_KEYS: 'ada=key-of-ada' } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('A2A_API_KEYS does not go with --proxy')]);
  });
});

function writeText(folderPath: string, text: string): string {
  const path = join(folderPath, 'keys');
  writeFileSync(path, text);
  return path;
}
