import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type Invocation, run, UsageError } from 'create-parley-a2a';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder = '';
let output = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-create-'));
  output = '';
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const project = () => join(folder, 'my-agent');
const read = (path: string) => readFileSync(join(project(), path), 'utf8');

function create(args: readonly string[], terminal?: Invocation['terminal']): Promise<void> {
  const write = (text: string) => {
    output += text;
  };
  return run(args, { program: 'create', version: '1.2.3', nodeRange: '>=22.19', write, terminal });
}

/** A person at a terminal, who gives the next answer to each question. */
function person(...answers: readonly string[]) {
  const [input, shown] = [new PassThrough(), new PassThrough()];
  const left = [...answers];
  const questions: string[] = [];
  shown.on('data', (text: Buffer) => {
    questions.push(String(text));
    // A prompt ends with its default in brackets.
    if (/\] $/.test(String(text)) && left.length > 0) input.write(`${left.shift()}\n`);
  });
  return { terminal: { input, output: shown }, questions, left };
}

it('asks nothing without a terminal, and writes the defaults', async () => {
  await create([project()]);
  const { name, dependencies, devDependencies } = JSON.parse(read('package.json'));
  expect(name).toBe('my-agent');
  expect(dependencies).toEqual({ 'parley-a2a': '^1.2.3' });
  expect(devDependencies['parley-a2a-testing']).toBe('^1.2.3');
  expect(read('server.ts')).toContain('createA2AServer');
  expect(readdirSync(project())).toEqual(
    expect.arrayContaining(['AGENTS.md', 'Dockerfile', 'compose.yaml', '.github']),
  );
  expect(output).toContain('npm install');
});

it('asks for what no flag says, and takes numbers, names and defaults', async () => {
  const { terminal, questions, left } = person(project(), '6', 'nonsense', 'fastify', '', 'n');
  await create(['--auth', 'key'], terminal);
  expect(left).toEqual([]);
  expect(questions.join('')).not.toContain('Who may call it?');
  expect(read('agent.ts')).toContain("from './api.ts'");
  expect(read('server.ts')).toContain("from 'fastify'");
  expect(read('server.ts')).toContain('openStorage(config.databaseUrl);');
  expect(readdirSync(project())).not.toContain('Dockerfile');
});

it('asks nothing with --yes', async () => {
  const { terminal, questions } = person();
  await create([project(), '--yes', '--no-container'], terminal);
  expect(questions).toEqual([]);
  expect(readdirSync(project())).not.toContain('Dockerfile');
});

it('gives the first caller a key of its own, which others cannot read and Git does not see', async () => {
  await create([project(), '--auth', 'key']);
  const [, key] = /^AGENT_KEY=([\w-]{32})$/m.exec(read('.env')) ?? [];
  expect(read('.env')).toContain(`A2A_API_KEYS=me=${key}\n`);
  expect(statSync(join(project(), '.env')).mode & 0o077).toBe(0);
  expect(read('.env.example')).not.toContain(String(key));
  expect(read('.gitignore').split('\n')).toContain('.env');
});

it.each([
  [['--agent', 'fancy'], '--agent is not "fancy". It is one of plain, ai-sdk, langgraph, openai-agents, tools, http.'],
  [['--host', ''], '--host is not "". It is one of own, express, fastify, hono, next.'],
  [['--storage', 'mysql'], 'It is one of sqlite, postgres, redis, memory.'],
  [['--auth', 'oauth'], 'It is one of none, key, jwt.'],
  [['--agents', 'plain'], 'The flags are --agent, --host, --storage, --auth, --container,'],
  [['one', 'two'], 'There is one folder, not 2: one, two.'],
])('refuses %j, and says what is accepted', async (args, sentence) => {
  const failure = await create(args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UsageError);
  expect(String(failure)).toContain(sentence);
});

it('overwrites no file unless it is told to', async () => {
  await create([project()]);
  await expect(create([project()])).rejects.toThrow(/already has .*agent\.ts.*--force/);
  await create([project(), '--force', '--agent', 'tools']);
  expect(read('agent.ts')).toContain('defineTool');
});

it('shows every choice in its help', async () => {
  await create(['--help']);
  for (const choice of ['openai-agents', 'next', 'postgres', 'jwt', '--no-container']) expect(output).toContain(choice);
});
