import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parley, ServedAgent } from './parley.js';
import { PseudoTerminal, terminalCases } from './pseudo-terminal.js';

const PASSWORD = 'pl4nted-s3cret correct horse';
const KEY = 'pl4nted-s3cret-key-of-ada-000';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-hashes-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(new URL('/a2a/rest/tasks', url), { headers: { 'a2a-version': '1.0', ...headers } });
  await response.text();
  return response.status;
}

const basicOf = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

describe('parley keys hash', () => {
  it('prints the entry for a key from standard input, without the key', async () => {
    const args = ['keys', 'hash', 'ada', '--scope', 'read', '-o', 'json'];
    const { code, stdout, stderr } = await parley(args, { input: `${KEY}\n` });
    expect(code).toBe(0);
    const sha256 = createHash('sha256').update(KEY).digest('hex');
    expect(JSON.parse(stdout)).toEqual({ entry: { subject: 'ada', sha256, scopes: ['read'] } });
    expect(stderr).toBe('');
  });

  it('adds the entry to a file whose server then accepts the key', async () => {
    const file = join(folder(), 'keys.json');
    for (const name of ['bob', 'ada']) {
      const input = name === 'ada' ? KEY : `${KEY}-${name}`;
      expect((await parley(['keys', 'hash', name, '--api-keys-file', file], { input })).code).toBe(0);
    }
    expect(readFileSync(file, 'utf8')).not.toContain(KEY);
    await using agent = await ServedAgent.start(['serve', '--echo', '--api-keys-file', file]);
    expect(await statusOf(agent.url, { 'x-api-key': KEY })).toBe(200);
    expect(await statusOf(agent.url, { 'x-api-key': `${KEY}x` })).toBe(401);
  });

  it.each([
    ['', 'the API key is empty'],
    ['two words', 'no blanks'],
    ['x'.repeat(5_000), '4,096'],
  ])('refuses %j', async (input, problem) => {
    const { code, stderr } = await parley(['keys', 'hash', 'ada'], { input });
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
  });

  it('warns about a key that is easy to guess from its hash', async () => {
    const { code, stderr } = await parley(['keys', 'hash', 'ada'], { input: 'hunter2' });
    expect(code).toBe(0);
    expect(stderr).toContain('fewer than 20 characters');
  });
});

describe('parley passwords hash', () => {
  it('replaces the entry of a user, and the server accepts the password', async () => {
    const file = join(folder(), 'users.json');
    const hash = (name: string, input: string) =>
      parley(['passwords', 'hash', name, '--basic-users-file', file], { input });
    for (const [name, password] of [
      ['ada', 'pl4nted-s3cret earlier'],
      ['bob', PASSWORD],
      ['ada', PASSWORD],
    ] as const) {
      expect(await hash(name, `${password}\n`)).toMatchObject({ code: 0, stderr: '' });
    }
    const text = readFileSync(file, 'utf8');
    expect(JSON.parse(text).map(({ subject }: { subject: string }) => subject)).toEqual(['bob', 'ada']);
    expect(text).not.toContain('pl4nted');
    expect(statSync(file).mode & 0o077).toBe(0);
    await using agent = await ServedAgent.start(['serve', '--echo', '--basic-users-file', file]);
    expect(await statusOf(agent.url, basicOf('ada', PASSWORD))).toBe(200);
    expect(await statusOf(agent.url, basicOf('ada', 'pl4nted-s3cret earlier'))).toBe(401);
  });

  it.each([
    [['passwords', 'hash'], 'x', 'needs <name>'],
    [['passwords', 'hash', 'a:b'], 'x', 'without a colon'],
    [['passwords', 'hash', 'ada'], '', 'the password is empty'],
    [['passwords', 'hash', 'ada'], 'a\tb', 'no control characters'],
  ])('%j with %j is refused', async (args, input, problem) => {
    const { code, stderr } = await parley(args, { input });
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
  });

  it('does not change a file of another form', async () => {
    const file = join(folder(), 'users.json');
    writeFileSync(file, '{}');
    const { code, stderr } = await parley(['passwords', 'hash', 'ada', '--basic-users-file', file], { input: 'x' });
    expect([code, readFileSync(file, 'utf8')]).toEqual([2, '{}']);
    expect(stderr).toContain('is no list of users');
  });

  it.each(terminalCases())('asks twice in a terminal (%s), and shows nothing of it', async () => {
    await using terminal = new PseudoTerminal(['passwords', 'hash', 'ada']);
    await terminal.shows(/password: /);
    terminal.type(`${PASSWORD}\r`);
    const between = await terminal.shows(/password again: /);
    terminal.type(`${PASSWORD}\r`);
    const after = await terminal.shows(/pbkdf2-sha256/);
    expect(`${between}${after}`).not.toContain('horse');
  });

  it.each(terminalCases())('refuses a password that was typed in differently (%s)', async () => {
    await using terminal = new PseudoTerminal(['passwords', 'hash', 'ada']);
    await terminal.shows(/password: /);
    terminal.type(`${PASSWORD}\r`);
    await terminal.shows(/password again: /);
    terminal.type('another\r');
    await terminal.shows(/the two differ/);
  });
});
