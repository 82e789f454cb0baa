import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder, PARLEY, parley, parleyJson, ServedAgent } from './parley.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());

describe('CLI_001: help and version', () => {
  it('compiled code is kept in the home of its user alone', async () => {
    using folder = new EmptyFolder();
    const [HOME, TMPDIR] = [join(folder.path, 'home'), join(folder.path, 'temporary')];
    for (const path of [HOME, TMPDIR]) mkdirSync(path);
    const env = { HOME, TMPDIR, NODE_COMPILE_CACHE: '' };
    expect((await parley(['--version'], { env })).code).toBe(0);
    expect([readdirSync(join(HOME, '.cache')), readdirSync(TMPDIR)]).toEqual([['a2a-cli'], []]);
  });

  it('help lists every command and exits with 0', async () => {
    const { code, stdout, stderr } = await parley(['help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['serve [module]', 'init [folder]', 'db status', 'config show', 'completion <shell>'])
      expect(stdout).toContain(`  ${command}`);
    expect((await parley([])).stdout).toBe(stdout);
    expect((await parley(['--help'])).stdout).toBe(stdout);
  });

  it('each command and each group has its own help', async () => {
    const { stdout } = await parley(['serve', '--help']);
    expect(stdout).toContain('Usage: parley serve [module] [flags]');
    expect(stdout).toContain('--echo');
    expect((await parley(['help', 'serve'])).stdout).toBe(stdout);
    expect((await parley(['help', 'db'])).stdout).toMatch(/Usage: parley db <command>/);
    expect((await parley(['db'])).stdout).toMatch(/db vacuum/);
  });

  it('help shows the current value of a flag and its source', async () => {
    expect((await parley(['help', 'serve'])).stdout).toMatch(/--output <format> .*\(default: text\)/);
    const { stdout } = await parley(['help', 'serve'], { env: { A2ACLI_OUTPUT: 'jsonl' } });
    expect(stdout).toMatch(/--output <format> .*\(default: jsonl, from environment\)/);
  });

  it.each([['-v'], ['--version'], ['version']])('%s prints the version', async (flag) => {
    expect((await parley([flag])).stdout).toMatch(/^parley \d+\.\d+\.\d+\n$/);
  });
});

describe('EXIT_001: wrong arguments exit with 2, and the error suggests a remedy without a stack', () => {
  it.each([
    [['serv'], /no command "serv"; did you mean "serve"\?/],
    [['db', 'statu'], /no command "db statu"; did you mean "db status"\?/],
    [['nonsense'], /no command "nonsense"\nhint: parley help/],
    [['serve', '--ehco'], /no flag --ehco; did you mean --echo\?/],
    [['config', 'show', '--echo'], /config show does not take --echo/],
    [['serve', '--port'], /--port needs a value/],
    [['serve', '--port', '--echo'], /--port needs a value; if --echo is meant, write --port=--echo/],
    [['serve', '--port', '1', '--port', '2'], /--port can be given only once/],
    [['serve', '--echo=no'], /--echo takes no value/],
    [['completion'], /completion needs <shell>/],
    [['completion', 'tcsh'], /no completion for "tcsh"/],
    [['version', 'extra'], /version does not take "extra"/],
    [['config', 'show', '-o', 'yaml'], /--output is text or json, not "yaml"/],
    [['config', 'show', '--config', 'gone.env'], /gone\.env: there is no such file/],
  ])('%j', async (args, problem) => {
    const { code, stdout, stderr } = await parley(args);
    expect(stderr).toMatch(problem);
    expect(stderr).toMatch(/^error: A2ACLI_ERR_USAGE: /);
    expect(stderr).not.toContain('    at ');
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('with -o json the error is one object on stdout', async () => {
    const { code, stdout } = await parley(['serv', '-o', 'json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'A2ACLI_ERR_USAGE', message: expect.any(String), hint: 'parley help', a2aCode: null },
    });
  });

  it('--debug prints the stack', async () => {
    expect((await parley(['serve', 'gone.ts', '--debug'])).stderr).toMatch(/\n {6}at /);
  });
});

describe('CONFIG_001, CONFIG_002: settings', () => {
  const place = join(folder.path, 'project', 'below');
  const home = join(folder.path, 'home');
  const global = join(home, '.config', 'a2a-cli');
  mkdirSync(place, { recursive: true });
  mkdirSync(global, { recursive: true });
  writeFileSync(
    join(global, '.env'),
    'A2ACLI_AGENT_CARD=global.example\nA2ACLI_POLL_INTERVAL=9s\nA2ACLI_TIMEOUT=8s\nA2ACLI_BEARER=from-file-secret\n',
    { mode: 0o600 },
  );
  writeFileSync(
    join(folder.path, 'project', '.env'),
    '# of the project\n\nexport A2ACLI_AGENT_CARD="local.example"\nA2ACLI_TIMEOUT=7s\nOTHER=1\n',
  );
  writeFileSync(join(folder.path, 'named.env'), "A2ACLI_AGENT_CARD='named.example'\n");
  const options = { cwd: place, env: { HOME: home, A2ACLI_TIMEOUT: '6s' } };

  interface Shown {
    readonly settings: readonly { readonly name: string; readonly value: string | null; readonly source: string }[];
  }
  async function showSetting(name: string, args: readonly string[] = []) {
    const { settings } = await parleyJson<Shown>(['config', 'show', ...args], options);
    return settings.find((row) => row.name === name);
  }

  it('precedence: flag, environment, local file, global file, built-in', async () => {
    const [local, global] = [join(folder.path, 'project', '.env'), join(home, '.config', 'a2a-cli', '.env')];
    expect(await showSetting('A2ACLI_OUTPUT')).toMatchObject({ value: 'json', source: 'flag' });
    expect(await showSetting('A2ACLI_TIMEOUT')).toMatchObject({ value: '6s', source: 'environment' });
    expect(await showSetting('A2ACLI_AGENT_CARD')).toMatchObject({ value: 'local.example', source: local });
    expect(await showSetting('A2ACLI_POLL_INTERVAL')).toMatchObject({ value: '9s', source: global });
    expect(await showSetting('A2ACLI_TENANT')).toMatchObject({ value: null, source: 'not set' });
  });

  it('--config replaces the local file', async () => {
    const path = join(folder.path, 'named.env');
    expect(await showSetting('A2ACLI_AGENT_CARD', ['--config', path])).toMatchObject({
      value: 'named.example',
      source: path,
    });
  });

  it('config show never shows a secret', async () => {
    const { stdout } = await parley(['config', 'show'], {
      ...options,
      env: { ...options.env, A2ACLI_API_KEY: 'env-secret' },
    });
    expect(stdout).toMatch(/^A2ACLI_BEARER: <redacted> \(.*\.env\)$/m);
    expect(stdout).toMatch(/^A2ACLI_API_KEY: <redacted> \(environment\)$/m);
    expect(stdout).not.toMatch(/from-file-secret|env-secret/);
  });

  it('a file with secrets that others can read causes a warning', async () => {
    const path = join(folder.path, 'open.env');
    writeFileSync(path, 'A2ACLI_BEARER=x\n');
    chmodSync(path, 0o644);
    expect((await parley(['config', 'show', '--config', path])).stderr).toMatch(/warning: .*open\.env .*chmod 600/);
    chmodSync(path, 0o600);
    expect((await parley(['config', 'show', '--config', path])).stderr).toBe('');
  });
});

describe('CLI_002: completion', () => {
  function completionsOf(line: string): string[] {
    const words = line.split(' ');
    const script = [
      `source <(${process.execPath} ${PARLEY} completion bash)`,
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
      `COMP_CWORD=${words.length - 1}`,
      '_parley',
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
    ];
    return execFileSync('bash', ['-c', script.join('\n')], { encoding: 'utf8', cwd: '/' })
      .trim()
      .split('\n');
  }

  it('bash completes commands, groups and flags', () => {
    expect(completionsOf('parley se')).toEqual(['send', 'serve']);
    expect(completionsOf('parley task push-config ')).toEqual(
      expect.arrayContaining(['create', 'get', 'list', 'delete']),
    );
    expect(completionsOf('parley db ')).toEqual(expect.arrayContaining(['status', 'migrate', 'vacuum', 'retention']));
    expect(completionsOf('parley db vacuum --da')).toEqual(['--database']);
    expect(completionsOf('parley serve --host 127.0.0.1 --ec')).toEqual(['--echo']);
  });

  it.each(['zsh', 'fish'])('the script for %s contains every command', async (shell) => {
    const { stdout, code } = await parley(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['serve', 'vacuum', 'completion', 'database']) expect(stdout).toContain(word);
  });
});

describe('SKILL_001, SKILL_002: the skill', () => {
  it('is short and refers to the help', async () => {
    const { stdout } = await parley(['skill']);
    expect(stdout).toMatch(/^---\nname: parley\n/);
    expect(stdout).toMatch(/\ncompatibility: .*parley/);
    expect(stdout).toContain('parley help <command>');
    expect(stdout.length).toBeLessThan(3000);
    expect(stdout).not.toMatch(/A2ACLI_|MUST|SHOULD/);
  });
});

describe('parley db', () => {
  const database = `sqlite:${join(folder.path, 'db', 'tasks.db')}`;
  const on = ['--database', database];

  it('prints the status, deletes by age, vacuums and migrates', async () => {
    {
      await using agent = await ServedAgent.start(['serve', '--echo', ...on]);
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x'.repeat(200_000) }] };
      const body = JSON.stringify({ message });
      for (let n = 0; n < 3; n++)
        await (await fetch(`${agent.url}/a2a/rest/message:send`, { method: 'POST', headers, body })).json();
      expect(await parleyJson(['db', 'status', ...on])).toMatchObject({
        inUse: true,
        tasks: { TASK_STATE_COMPLETED: 3 },
      });
      const busy = await parley(['db', 'vacuum', ...on]);
      expect(busy.code).toBe(2);
      expect(busy.stderr).toMatch(/another server uses it \(process \d+\)/);
      await agent.running.stop();
    }
    const text = (await parley(['db', 'status', ...on])).stdout;
    expect(text).toMatch(
      /^Database: .*tasks\.db\nSchema: \d+\nIn use: no\nSize: .*\nCOMPLETED: 3\nEvents: \d+\nTurns: 0\nWebhooks: 0\n$/,
    );
    expect(await parleyJson(['db', 'retention', '--finished', '1d', '--event-log', '1h', ...on])).toMatchObject({
      removed: { tasks: 0 },
    });
    expect(await parleyJson(['db', 'retention', '--finished', '0s', ...on])).toMatchObject({ removed: { tasks: 3 } });
    const { bytesBefore, bytesAfter } = await parleyJson<{ bytesBefore: number; bytesAfter: number }>([
      'db',
      'vacuum',
      ...on,
    ]);
    expect(bytesAfter).toBeLessThan(bytesBefore / 2);
    expect(await parleyJson(['db', 'migrate', ...on])).toMatchObject({ changed: false });
    expect(await parleyJson(['db', 'status', ...on])).toMatchObject({ tasks: {}, records: 0 });
  });

  it('creates no missing file, and refuses a file that is no SQLite database', async () => {
    const gone = join(folder.path, 'gone.db');
    for (const command of ['status', 'migrate', 'vacuum', 'retention']) {
      const { code, stderr } = await parley(['db', command, '--database', `sqlite:${gone}`]);
      expect(stderr).toMatch(/gone\.db as storage: there is no such file/);
      expect(code).toBe(2);
      expect(existsSync(gone)).toBe(false);
    }
    const foreign = join(folder.path, 'foreign.db');
    writeFileSync(foreign, 'something else');
    expect((await parley(['db', 'status', '--database', `sqlite:${foreign}`])).stderr).toMatch(/no SQLite database/);
  });

  it('refuses a database in memory', async () => {
    expect((await parley(['db', 'status', '--database', 'memory:'])).stderr).toMatch(
      /this command works on files such as sqlite:/,
    );
  });
});
