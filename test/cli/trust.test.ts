import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmptyFolder, type ParleyResult, parley, parleyJson } from './parley.js';
import { RecordingAgent, result } from './recording-agent.js';

const bearerCard = {
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: {} } }],
};
const file = { raw: Buffer.from('ssh-ed25519 thief').toString('base64'), filename: 'authorized_keys' };
const answer = () =>
  result({
    task: {
      id: 't1',
      contextId: 'c1',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'a1', parts: [file] }],
    },
  });

let place: EmptyFolder;
let home: string;
let repository: string;
let agent: RecordingAgent;

beforeEach(async () => {
  place = new EmptyFolder();
  [home, repository] = [join(place.path, 'home'), join(place.path, 'repository', 'below')];
  mkdirSync(join(home, '.config', 'a2a-cli'), { recursive: true });
  mkdirSync(repository, { recursive: true });
  agent = await RecordingAgent.start({ card: bearerCard, answer });
});
afterEach(async () => {
  await agent[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const local = () => join(place.path, 'repository', '.env');
const writeLocal = (...lines: string[]) => writeFileSync(local(), `${lines.join('\n')}\n`, { mode: 0o600 });
const writeGlobal = (...lines: string[]) =>
  writeFileSync(join(home, '.config', 'a2a-cli', '.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
const inRepository = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ParleyResult> =>
  parley(args, { cwd: repository, env: { HOME: home, ...env } });

function expectRefused({ code, stderr }: ParleyResult, variable: string): void {
  expect(stderr).toMatch(new RegExp(`A2ACLI_ERR_USAGE: \\S+/repository/\\.env is not trusted: its ${variable} `));
  expect(stderr).toMatch(/hint: read the file, then: parley config trust \S+\/repository\/\.env/);
  expect(code).toBe(2);
}

describe('a .env file of a parent folder', () => {
  it.each([
    ['the environment', [], { A2ACLI_BEARER: 'very-secret' }],
    ['a flag', ['--bearer', 'very-secret'], {}],
    ['the global file', [], {}],
  ])('does not set the agent for a bearer token of %s', async (from, args, env) => {
    if (from === 'the global file') writeGlobal('A2ACLI_BEARER=very-secret');
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    expectRefused(await inRepository(['send', 'x', ...args], env), 'A2ACLI_AGENT_CARD');
    expect(agent.requests).toEqual([]);
  });

  it.each(['A2ACLI_API_KEY', 'A2ACLI_AUTH', 'A2ACLI_CLIENT_SECRET'])(
    'does not set an endpoint, a tenant or headers for %s',
    async (credential) => {
      const env = { [credential]: 'very-secret' };
      writeLocal(`A2ACLI_ENDPOINT=${agent.url}/rpc`, 'A2ACLI_TRANSPORT=JSONRPC');
      expectRefused(await inRepository(['send', 'x'], env), 'A2ACLI_ENDPOINT');
      for (const [variable, value] of [
        ['A2ACLI_TENANT', 'other'],
        ['A2ACLI_SVC_PARAM', 'x-forwarded-host:evil.example'],
        ['A2ACLI_EXTENSION', 'https://evil.example/ext'],
      ] as const) {
        writeLocal(`${variable}=${value}`);
        expectRefused(await inRepository(['send', 'x', '-a', agent.url], env), variable);
      }
      expect(agent.calls).toEqual([]);
    },
  );

  it.each([
    ['A2ACLI_INSECURE', 'true'],
    ['A2ACLI_CA_CERT', '/dev/null'],
    ['A2ACLI_CLIENT_CERT', '/dev/null'],
    ['A2ACLI_CARD_KEY', 'https://evil.example/keys'],
    ['A2ACLI_SAVE_FILEPARTS', 'anywhere'],
    ['A2ACLI_REQUEST_PAYLOAD', '/etc/hostname'],
  ])('never sets %s', async (variable, value) => {
    writeLocal(`${variable}=${value}`);
    const sent = await inRepository(['send', '-a', agent.url, ...(variable.endsWith('PAYLOAD') ? [] : ['x'])]);
    expectRefused(sent, variable);
    expect(agent.calls).toEqual([]);
    expect(existsSync(join(repository, 'anywhere'))).toBe(false);
  });

  it.each([
    ['A2ACLI_EXEC', ['serve']],
    ['A2ACLI_PROXY', ['serve']],
    ['A2ACLI_HOST', ['serve', '--echo']],
    ['A2ACLI_ALLOW_ANONYMOUS', ['serve', '--echo']],
    ['A2ACLI_DATABASE', ['serve', '--echo']],
    ['A2ACLI_TRAFFIC_LOG', ['serve', '--proxy', 'http://127.0.0.1:1', '--port', '0']],
    ['A2ACLI_FORCE', ['task', 'download', 't1']],
    ['A2ACLI_FINISHED', ['db', 'retention']],
    ['A2ACLI_URL', ['task', 'push-config', 'create', 't1']],
    ['A2ACLI_DIR', ['task', 'download', 't1']],
  ])('never sets %s', async (variable, args) => {
    const more = args[0] === 'task' ? ['-a', agent.url] : [];
    writeLocal(`${variable}=true`);
    expectRefused(await inRepository([...args, ...more]), variable);
  });

  it('does not set the issuer or the agent of a login', async () => {
    const args = ['auth', 'login', '--client-id', 'cli'];
    writeLocal('A2ACLI_ISSUER=https://evil.example');
    expectRefused(await inRepository([...args, '-a', agent.url]), 'A2ACLI_ISSUER');
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    expectRefused(await inRepository(args), 'A2ACLI_AGENT_CARD');
    expect(agent.requests).toEqual([]);
  });

  it('does not set the agent for a stored login', async () => {
    const login = { flow: 'clientCredentials', scheme: 'bearer', issuer: agent.url, clientId: 'cli', scopes: [] };
    writeFileSync(
      join(home, '.config', 'a2a-cli', 'logins.json'),
      JSON.stringify({
        [agent.url.replace('127.0.0.1', 'localhost')]: { ...login, tokens: { accessToken: 'very-secret' } },
      }),
    );
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    expectRefused(await inRepository(['send', 'x']), 'A2ACLI_AGENT_CARD');
    expect(agent.calls).toEqual([]);
    expect((await inRepository(['send', 'x', '-a', agent.url])).code).toBe(0);
    expect(agent.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer very-secret']);
  });

  it('sets the agent without credentials, and harmless settings', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`, 'A2ACLI_OUTPUT=json');
    const { code, stdout } = await inRepository(['send', 'x']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveProperty('task.id', 't1');
  });

  it('sets an agent with its own credential, and causes a warning for another agent', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`, 'A2ACLI_BEARER=its-own');
    expect(await inRepository(['send', 'x'])).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('warning'),
    });
    const elsewhere = await inRepository(['send', 'x', '-a', agent.url]);
    expect(elsewhere.stderr).toMatch(/warning: \S+\/\.env is not trusted, but its credential is sent/);
    expect(agent.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer its-own', 'Bearer its-own']);
  });

  it('is named by config show as not trusted', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    const { stdout } = await inRepository(['config', 'show'], { A2ACLI_BEARER: 'very-secret' });
    expect(stdout).toContain(`A2ACLI_AGENT_CARD: ${agent.url} (${local()}, not trusted)`);
  });
});

describe('parley config trust', () => {
  const env = { A2ACLI_BEARER: 'very-secret' };

  it('makes all settings of a file effective, until its content changes or the trust is removed', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`, 'A2ACLI_SAVE_FILEPARTS=saved', 'A2ACLI_API_KEY=file-secret');
    expectRefused(await inRepository(['send', 'x'], env), 'A2ACLI_SAVE_FILEPARTS|A2ACLI_AGENT_CARD');

    const trusted = await inRepository(['config', 'trust']);
    expect(trusted.stdout).toBe(
      `Trusted: ${local()}\nA2ACLI_AGENT_CARD: ${agent.url}\nA2ACLI_API_KEY: <redacted>\nA2ACLI_SAVE_FILEPARTS: saved\n`,
    );
    expect((await inRepository(['send', 'x'], env)).code).toBe(0);
    expect(agent.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer very-secret']);
    expect(readFileSync(join(repository, 'saved', 'authorized_keys'), 'utf8')).toBe('ssh-ed25519 thief');
    const store = join(home, '.config', 'a2a-cli', 'trusted.json');
    expect(statSync(store).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(store, 'utf8'))).toEqual({ [local()]: expect.stringMatching(/^[0-9a-f]{64}$/) });

    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}/evil`);
    expect((await inRepository(['send', 'x'], env)).stderr).toMatch(
      /\.env has changed since it was trusted: its A2ACLI_AGENT_CARD/,
    );
    expect((await inRepository(['config', 'trusted'])).stdout).toBe(`No longer trusted: ${local()} (changed)\n`);

    await inRepository(['config', 'trust', local()]);
    expect((await inRepository(['config', 'trusted'])).stdout).toBe(`Trusted: ${local()}\n`);
    expect((await inRepository(['config', 'untrust'])).stdout).toBe(`No longer trusted: ${local()}\n`);
    expectRefused(await inRepository(['send', 'x'], env), 'A2ACLI_AGENT_CARD');
    expect((await inRepository(['config', 'untrust'])).code).toBe(2);
  });

  it('applies to one path: the same content elsewhere is not trusted', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    await inRepository(['config', 'trust']);
    const clone = join(place.path, 'clone');
    mkdirSync(clone);
    writeFileSync(join(clone, '.env'), readFileSync(local()));
    const sent = await parley(['send', 'x'], { cwd: clone, env: { HOME: home, ...env } });
    expect(sent.stderr).toMatch(/clone\/\.env is not trusted/);
  });

  it('is not needed for the file of --config and the global file', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    expect((await inRepository(['send', 'x', '--config', local()], env)).code).toBe(0);
    writeLocal('OTHER=1');
    writeGlobal(`A2ACLI_AGENT_CARD=${agent.url}`);
    expect((await inRepository(['send', 'x'], env)).code).toBe(0);
    const inside = { cwd: join(home, '.config', 'a2a-cli'), env: { HOME: home, ...env } };
    expect((await parley(['send', 'x'], inside)).code).toBe(0);
  });

  it('prints JSON', async () => {
    writeLocal(`A2ACLI_AGENT_CARD=${agent.url}`);
    const options = { cwd: repository, env: { HOME: home } };
    const settings = [{ name: 'A2ACLI_AGENT_CARD', value: agent.url }];
    expect(await parleyJson(['config', 'trust'], options)).toEqual({ file: local(), trusted: true, settings });
    const files = [{ file: local(), state: 'trusted' }];
    expect(await parleyJson(['config', 'trusted'], options)).toEqual({ files });
    expect(await parleyJson(['config', 'untrust'], options)).toEqual({ file: local(), trusted: false });
  });
});

describe('ignored files', () => {
  it('a file of another user, with a warning', async () => {
    writeLocal('A2ACLI_OUTPUT=json');
    // Only root can change the owner of a file. Other users get a link to a file of root.
    if (process.getuid?.() === 0) chownSync(local(), 4321, 4321);
    else {
      execFileSync('rm', [local()]);
      symlinkSync('/etc/hostname', local());
    }
    const { stdout, stderr } = await inRepository(['config', 'show']);
    expect(stderr).toBe(`warning: ${local()} belongs to another user, and is ignored\n`);
    expect(stdout).toContain('A2ACLI_OUTPUT: text (built-in)');
    expect((await inRepository(['config', 'trust', local()])).stderr).toMatch(/belongs to another user/);
  });

  it('a pipe, whose end would never come', async () => {
    execFileSync('mkfifo', [local()]);
    expect((await inRepository(['config', 'show'])).code).toBe(0);
  });

  it('a global folder with a relative path', async () => {
    mkdirSync(join(repository, '.config', 'a2a-cli'), { recursive: true });
    writeFileSync(join(repository, '.config', 'a2a-cli', '.env'), `A2ACLI_AGENT_CARD=${agent.url}\n`);
    const { stdout } = await inRepository(['config', 'show'], { HOME: '', XDG_CONFIG_HOME: '.config' });
    expect(/^A2ACLI_AGENT_CARD: .*$/m.exec(stdout)?.[0]).toBe('A2ACLI_AGENT_CARD: not set');
  });

  it('a file with the name of a host', async () => {
    const name = new URL(agent.url).host;
    writeFileSync(join(repository, name), JSON.stringify({ name: 'thief', supportedInterfaces: [] }));
    const { code, stderr } = await inRepository(['send', 'x', '-a', name]);
    expect(code).toBe(0);
    expect(stderr).toContain(`${name} is taken for a host; for the file of that name write ./${name}`);
    expect(agent.calls).toHaveLength(1);
  });
});

it('a file with a credential that others can read causes a warning', async () => {
  writeLocal('A2ACLI_BEARER=x');
  chmodSync(local(), 0o644);
  expect((await inRepository(['config', 'show'])).stderr).toMatch(/warning: .*\.env .*chmod 600/);
});
