import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder, PARLEY, parley, parleyJson, ServedAgent } from './parley.js';
import { PseudoTerminal, terminalCases } from './pseudo-terminal.js';
import { plainCard, RecordingAgent, result } from './recording-agent.js';

const folder = new EmptyFolder();
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
afterAll(() => folder[Symbol.dispose]());

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

describe('commands of other tools', () => {
  it.each([
    [['discover', 'http://x'], 'parley card get http://x'],
    [['get', 'card', 'http://x'], 'parley card get http://x'],
    [['get', 'task', 'http://x', 't-1'], 'parley task get t-1 -a http://x'],
    [['get', 't-1'], 'parley task get t-1'],
    [['list', 'tasks', 'http://x'], 'parley task list -a http://x'],
    [['list'], 'parley task list'],
    [['subscribe', 'http://x', 't-1'], 'parley task subscribe t-1 -a http://x'],
    [['cancel', 't-1'], 'parley task cancel t-1'],
  ])('%j is translated into ours', async (args, hint) => {
    const { code, stdout } = await parley([...args, '-o', 'json']);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'A2ACLI_ERR_USAGE', hint });
    expect(code).toBe(2);
  });

  it('send accepts the URL of the agent before the message', async () => {
    await using agent = await RecordingAgent.start();
    expect((await parley(['send', agent.url, 'hello'])).stdout).toContain('heard');
    expect(agent.calls[0]?.body.params.message).toMatchObject({ parts: [{ text: 'hello' }] });
    const twice = await parley(['send', agent.url, 'hello', '-a', agent.url]);
    expect(twice.stderr).toMatch(/send does not take "hello"/);
  });
});

describe('help', () => {
  it('of an unknown command is an error', async () => {
    const { code, stderr, stdout } = await parley(['help', 'nosuch']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/there is no command "nosuch"\nhint: parley help/);
    expect((await parley(['help', 'task', 'nosuch'])).code).toBe(2);
  });

  it('shows flags in groups, and the way to read a message from a pipe', async () => {
    const { stdout } = await parley(['help', 'send']);
    expect(stdout).toMatch(/^Flags:\n.*^Flags of the wait:\n.*^Flags that name the agent:\n.*^Flags for credentials/ms);
    expect(stdout).toMatch(/\| parley send .* -$/m);
    expect((await parley(['send', '-a', 'localhost:1'])).stderr).toMatch(/hint: .*- for standard input/);
  });

  it('suggests only similar words', async () => {
    expect((await parley(['version', '--verbos'])).stderr).toMatch(/did you mean --verbose\?/);
    expect((await parley(['sned', 'x'])).stderr).toMatch(/no command "sned"; did you mean "send"\?/);
    for (const args of [['dialogue'], ['dispatch'], ['info'], ['version', '--stdout'], ['version', '--model']])
      expect((await parley(args)).stderr).not.toMatch(/did you mean/);
  });
});

describe('the tool and its Node.js', () => {
  const { engines } = JSON.parse(readFileSync(at('packages/cli/package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const minimum = engines.node.replace('>=', '');

  it.each(['20.11.1', '22.18.0', '18.0.0'])('Node.js %s is refused with one sentence', (version) => {
    const pretended = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;
    const { status, stderr } = spawnSync(process.execPath, ['--import', pretended, PARLEY, 'version'], {
      encoding: 'utf8',
    });
    expect(stderr).toBe(`parley needs Node.js ${minimum} or newer; this is ${version}.\n`);
    expect(status).toBe(1);
  });

  it('has no path in bin that npm would drop, as those that begin with a dot', () => {
    const { bin } = JSON.parse(readFileSync(at('packages/cli/package.json'), 'utf8')) as { bin: unknown };
    expect(bin).toEqual({ parley: 'bin/parley.js' });
  });

  it('every place states the same minimum version', () => {
    const library = JSON.parse(readFileSync(at('packages/parley/package.json'), 'utf8')) as { engines: typeof engines };
    expect(library.engines).toEqual(engines);
    for (const path of ['README.md', 'packages/parley/README.md', 'CONTRIBUTING.md'])
      expect(readFileSync(at(path), 'utf8')).toMatch(new RegExp(`Node\\.js ${minimum.replace('.', '\\.')} or newer`));
  });

  it('init pins the version of the packages, without paths of this machine', async () => {
    const { stdout } = await parley(['init', join(folder.path, 'my-agent')]);
    const { dependencies, engines: needed } = JSON.parse(
      readFileSync(join(folder.path, 'my-agent/package.json'), 'utf8'),
    ) as { dependencies: Record<string, string>; engines: { node: string } };
    expect(needed).toEqual(engines);
    expect(dependencies).toEqual({ 'parley-a2a': '^0.1.0' });
    expect(stdout).toMatch(/^ {2}npm install$/m);
  });

  it('init lists the choices after an unknown one', async () => {
    const { code, stderr } = await parley(['init', join(folder.path, 'other'), '--agent', 'fancy']);
    expect(code).toBe(2);
    expect(stderr).toContain('It is one of plain, ai-sdk, langgraph, openai-agents, tools, http.');
  });
});

describe('a module that does not load', () => {
  it.each([
    ['broken.ts', 'export const agent = {\n  agent: (x) => x,\n  bad syntax\n};\n', /broken\.ts:3: SyntaxError/],
    ['broken.mjs', 'export const agent = (x) => x;\nbad syntax\n', /broken\.mjs:2: SyntaxError/],
    ['throws.mjs', 'const a = 1;\n\nfoo.bar();\n', /throws\.mjs:3: ReferenceError: foo is not defined/],
    ['enum.ts', '\nenum A { B }\n', /enum\.ts:2: SyntaxError: TypeScript enum is not supported/],
    [
      'missing.mjs',
      'import "no-such-package";\n',
      /Cannot find package 'no-such-package' imported from .*missing\.mjs/,
    ],
  ])('%s is named with its line', async (name, content, problem) => {
    const { code, stderr } = await parley(['serve', file(name, content), '--port', '0']);
    expect(stderr).toMatch(problem);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(1);
  });
});

describe('errors of the specification', () => {
  it('for missing push notifications and extended cards keep their names', async () => {
    await using agent = await RecordingAgent.start();
    const push = await parley(['task', 'push-config', 'list', 't', '-a', agent.url, '-o', 'json']);
    expect(JSON.parse(push.stdout).error.code).toBe('PushNotificationNotSupportedError');
    expect(push.code).toBe(1);
    const extended = await parley(['card', 'get', '--extended', '-a', agent.url, '-o', 'json']);
    expect(JSON.parse(extended.stdout).error.code).toBe('UnsupportedOperationError');
    expect(extended.code).toBe(1);
    expect(agent.calls).toEqual([]);
  });

  it.each([
    ['name', { ...plainCard('http://x'), name: 1 }],
    ['interfaces', { ...plainCard('http://x'), supportedInterfaces: 'none' }],
  ])('a card that is malformed (%s) is A2ACLI_ERR_CARD_INVALID', async (name, card) => {
    const path = file(`${name}.json`, JSON.stringify(card));
    for (const args of [
      ['card', 'get', path],
      ['send', 'x', '-a', path],
      ['conformance', '-a', path],
    ]) {
      const { code, stdout } = await parley([...args, '-o', 'json']);
      expect(JSON.parse(stdout).error).toMatchObject({ code: 'A2ACLI_ERR_CARD_INVALID' });
      expect(code).toBe(1);
    }
  });
});

describe('cards', () => {
  const old = {
    ...{ name: 'Old', description: 'of 0.3', url: 'http://127.0.0.1:9/', version: '1', protocolVersion: '0.3.0' },
    ...{ preferredTransport: 'JSONRPC', capabilities: {}, defaultInputModes: [], defaultOutputModes: [], skills: [] },
  };

  it('of 0.3 are validated by the rules of 0.3', async () => {
    const { code, stderr } = await parley(['card', 'get', file('old.json', JSON.stringify(old)), '--validate']);
    expect(stderr).toBe('The card follows the schema.\n');
    expect(code).toBe(0);
    const broken = { ...old, url: undefined, skills: [{ id: 'x', name: 'x', tags: 'no' }] };
    const refused = await parley(['card', 'get', file('broken.json', JSON.stringify(broken)), '--validate']);
    expect(refused.stderr).toMatch(
      /CARD_INVALID: .*url is required; skills\[0\]\.description is required; skills\[0\]\.tags is not/,
    );
    expect(refused.code).toBe(1);
  });

  it('of 0.3 pass conformance, which also checks their interfaces', async () => {
    await using agent = await ServedAgent.start(['demo-server', '--quiet']);
    const card = {
      ...old,
      url: `${agent.url}/a2a/jsonrpc`,
      capabilities: { streaming: true, pushNotifications: true },
    };
    const path = file('served.json', JSON.stringify(card));
    const { stdout } = await parley(['conformance', '-a', path]);
    expect(stdout).toMatch(/^PASS: card: the card follows the schema/m);
    expect(stdout).toMatch(/^PASS: JSONRPC 0\.3: SendMessage answers with a task or a message/m);
    expect(stdout).not.toMatch(/^FAIL/m);
  });

  it('with unknown members get warnings', async () => {
    await using agent = await RecordingAgent.start({ card: { somethingNew: true } });
    const { code, stderr } = await parley(['card', 'get', agent.url, '--validate']);
    expect(stderr).toMatch(/warning: the schema does not know the member somethingNew/);
    expect(code).toBe(0);
    const { stdout } = await parley(['conformance', '-a', agent.url, '--timeout', '3s']);
    expect(stdout).toMatch(/^PASS: card: the card follows the schema \(unknown members: somethingNew\)$/m);
  });
});

describe('lists', () => {
  it('are aligned', async () => {
    await using agent = await ServedAgent.start(['demo-server', '--quiet']);
    const on = ['-a', agent.url];
    for (const word of ['hello', 'ask']) await parley(['send', word, ...on]);
    const { stdout } = await parley(['task', 'list', ...on]);
    expect(stdout).toMatch(
      /^Tasks:\nTask {34}State {11}Time {22}Context\n\S{36} {2}INPUT_REQUIRED {2}\S{24} {2}\S{36}\n\S{36} {2}COMPLETED {7}\S{24} {2}\S{36}\n\nTotal: 2\n$/,
    );
    const { tasks } = await parleyJson<{ tasks: unknown[] }>(['task', 'list', ...on]);
    expect(tasks).toHaveLength(2);
  });
});

describe('on a terminal', () => {
  it.for(terminalCases())('ids are shown once', async () => {
    const working = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
    const done = { ...working, status: { state: 'TASK_STATE_COMPLETED' } };
    await using agent = await RecordingAgent.start({
      answer: ({ body }) => result(body.method === 'GetTask' ? done : { task: working }),
    });
    await using terminal = new PseudoTerminal(['send', 'x', '-a', agent.url, '--poll-interval', '50ms']);
    const { said } = await terminal.waitForEnd();
    expect(said.match(/Task: t-1/g)).toHaveLength(1);
    expect(said.match(/Context: c-1/g)).toHaveLength(1);
    expect(said).toContain('State: COMPLETED');
  });
});
