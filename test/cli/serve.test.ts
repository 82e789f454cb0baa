import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { EmptyFolder, parley, RunningParley, ServedAgent } from './parley.js';
import { RecordingAgent, result, stream } from './recording-agent.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());

interface Answer {
  readonly result?: {
    readonly task?: {
      readonly id: string;
      readonly status: { readonly state: string; readonly message?: { readonly parts: readonly { text: string }[] } };
      readonly artifacts?: readonly { readonly parts: readonly { readonly text: string }[] }[];
    };
    readonly message?: { readonly parts: readonly { readonly text: string }[] };
  };
}

async function call(url: string, text: string): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: 'Bearer very-secret' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: text.slice(0, 40), role: 'ROLE_USER', parts: [{ text }] } },
    }),
  });
  return (await response.json()) as Answer;
}

const textsOf = ({ result }: Answer) =>
  result?.task?.artifacts?.flatMap(({ parts }) => parts.map(({ text }) => text)) ?? [];

function moduleFile(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

describe('parley serve', () => {
  it('--echo serves an agent, prints its address, and stops on a signal', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo', '--name', 'Parrot']);
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as { name: string };
    expect(card.name).toBe('Parrot');
    expect(textsOf(await call(agent.url, 'hello'))).toEqual(['Echo: hello']);
    const { code, stdout } = await agent.running.stop();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Agent: Parrot\nURL: http:\S+\nCard: http:\S+\/\.well-known\/agent-card\.json\n$/);
  });

  it('describes its agent to browsers, at /docs and at the path of the agent', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo', '--name', 'Parrot']);
    for (const path of ['/docs', '/']) {
      const page = await fetch(new URL(path, agent.url), { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(await page.text()).toContain('Parrot');
    }
  });

  it('serves the console, but not with a public url', async () => {
    const navigation = { accept: 'text/html', 'sec-fetch-dest': 'document' };
    const hasConsole = async (url: string) => {
      const page = await fetch(new URL('/', url), { headers: navigation });
      return (await page.text()).includes('id="console"');
    };
    await using local = await ServedAgent.start(['serve', '--echo']);
    expect(await hasConsole(local.url)).toBe(true);
    const url = `http://127.0.0.1:${await freePort()}`;
    const flags = ['serve', '--echo', '--port', new URL(url).port, '--public-url', url];
    await using running = new RunningParley(flags);
    await running.waitForStdout(/^URL: (\S+)$/m);
    expect(await hasConsole(url)).toBe(false);
  });

  it('prints its protection on stderr, and warns if other machines can call it without credentials', async () => {
    await using local = await ServedAgent.start(['serve', '--echo', '--rate-limit', '600/60s']);
    const { stderr } = await local.running.stop();
    expect(stderr).toContain(` info serving ${local.url} `);
    expect(stderr).toContain(
      '"authentication":"open to everyone","transport":"plain HTTP","rateLimit":"600/60s per address, 600/60s per caller","pushTargets":"public addresses"',
    );
    expect(stderr).not.toContain(' warn ');
    await using open = await ServedAgent.start(['serve', '--echo', '--host', '0.0.0.0', '--allow-anonymous']);
    expect((await open.running.stop()).stderr).toContain(
      ' warn on 0.0.0.0 anybody could call the agent at / without authentication, because allowAnonymous is set',
    );
  });

  it('has the alias server', async () => {
    await using agent = await ServedAgent.start(['server', '--echo']);
    expect(textsOf(await call(agent.url, 'x'))).toEqual(['Echo: x']);
  });

  it.each([
    ['a function', 'export default (prompt) => prompt.toUpperCase();'],
    ['options', 'export const agent = { name: "Named", agent: async function* (p) { yield p.toUpperCase(); } };'],
    [
      'an executor',
      'export const agent = { async execute(c, e) { await e.artifact(c.text.toUpperCase()); await e.complete(); } };',
    ],
  ])('serves a module that exports %s', async (kind, source) => {
    const path = moduleFile(`${kind.replaceAll(/\W/g, '')}.mjs`, source);
    await using agent = await ServedAgent.start(['serve', path]);
    expect(textsOf(await call(agent.url, 'shout'))).toEqual(['SHOUT']);
  });

  it('serves a TypeScript module, and a module with several agents', async () => {
    const source = `const up = (prompt: string): string => prompt.toUpperCase();
export const agent = { agents: { '/up': { name: 'Up', agent: up }, '/down': { name: 'Down', agent: (p: string) => p.toLowerCase() } } };`;
    await using agent = await ServedAgent.start(['serve', moduleFile('several.ts', source)]);
    const base = new URL(agent.url).origin;
    expect(textsOf(await call(`${base}/up`, 'One'))).toEqual(['ONE']);
    expect(textsOf(await call(`${base}/down`, 'One'))).toEqual(['one']);
  });

  it('refuses a module without an agent, with a remedy', async () => {
    const { code, stderr } = await parley(['serve', moduleFile('nothing.mjs', 'export const x = 1;')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/exports no agent\nhint: export a function/);
  });

  it.each([
    [['serve'], /one of: a module, --echo/],
    [['serve', '--echo', '--exec', 'cat'], /one of: a module, --echo/],
    [['serve', '--echo', '--chunk', ','], /--chunk goes with --exec/],
    [['serve', '--echo', '--port', '70000'], /--port="70000" must be a number from 0 to 65535/],
    [['serve', '--proxy', 'nowhere'], /--proxy takes an http or https URL/],
    [['serve', '--proxy', 'http://127.0.0.1:1', '--host', '0.0.0.0'], /asks for no credential, and 0\.0\.0\.0/],
    [['serve', 'gone.ts'], /there is no module gone\.ts/],
    [['serve', '--echo', '--database', 'mysql://x'], /must be memory:, .*sqlite:/],
  ])('%j is refused with an explanation', async (args, problem) => {
    const { code, stderr } = await parley(args);
    expect(stderr).toMatch(problem);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(2);
  });

  it('suggests a remedy for a port in use', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo']);
    const { code, stderr } = await parley(['serve', '--echo', '--port', new URL(agent.url).port]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/port \d+ is taken/);
    expect(stderr).toMatch(/hint: .*--port 0/);
  });

  it('keeps tasks in a database', async () => {
    const database = `sqlite:${join(folder.path, 'kept', 'tasks.db')}`;
    let id: string | undefined;
    {
      await using agent = await ServedAgent.start(['serve', '--echo', '--database', database]);
      id = (await call(agent.url, 'hello')).result?.task?.id;
      expect((await agent.running.stop()).code).toBe(0);
    }
    await using agent = await ServedAgent.start(['serve', '--echo'], { env: { DATABASE_URL: database } });
    const read = await fetch(`${agent.url}/a2a/rest/tasks/${id}`, { headers: { 'a2a-version': '1.0' } });
    expect(await read.json()).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
  });
});

describe('parley serve --exec', () => {
  it('serves a program as an agent: text on its stdin, ids in its environment, the answer from its stdout', async () => {
    await using agent = await ServedAgent.start(['serve', '--exec', 'tr a-z A-Z; printf " %s" "$A2A_TASK_ID"']);
    const answer = await call(agent.url, 'héllo; rm -rf $HOME');
    expect(answer.result?.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(answer)).toEqual([`HéLLO; RM -RF $HOME ${answer.result?.task?.id}`]);
  });

  it('passes no credential of the tool to the program', async () => {
    const secrets = Object.fromEntries(
      ['BEARER', 'API_KEY', 'AUTH', 'CLIENT_SECRET', 'TOKEN', 'AUTH_CREDENTIALS'].map((name) => [
        `A2ACLI_${name}`,
        'very-secret',
      ]),
    );
    const env = { ...secrets, A2ACLI_TENANT: 'kept' };
    await using agent = await ServedAgent.start(['serve', '--exec', 'env'], { env });
    const [text] = textsOf(await call(agent.url, 'x'));
    expect(text).not.toContain('very-secret');
    expect(text).toContain('A2ACLI_TENANT=kept');
    expect(text).toContain('A2A_MESSAGE={"');
  });

  it.each([
    ['DB_PASSWORD=pl4nted /opt/pl4nted/agent.sh --token pl4nted', 'agent.sh'],
    ['"cat" -u', 'cat'],
  ])('publishes only the name of the program: %s', async (command, name) => {
    await using agent = await ServedAgent.start(['serve', '--exec', command]);
    const card = await (await fetch(new URL('/.well-known/agent-card.json', agent.url))).text();
    expect(JSON.parse(card)).toMatchObject({ name, description: 'Runs a program.' });
    expect(card + (await (await fetch(agent.url, { headers: { accept: 'text/html' } })).text())).not.toContain(
      'pl4nted',
    );
  });

  it('a long message is on stdin, and whole in a temporary file', async () => {
    const path = join(folder.path, 'path');
    await using agent = await ServedAgent.start([
      'serve',
      '--exec',
      `echo "$A2A_MESSAGE_FILE" > ${path}; wc -c; test -z "$A2A_MESSAGE" && wc -c < "$A2A_MESSAGE_FILE"`,
    ]);
    const answer = await call(agent.url, 'é'.repeat(1_000_000));
    const [bytes, json] = textsOf(answer).join('').match(/\d+/g)?.map(Number) ?? [];
    expect(answer.result?.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(bytes).toBe(2_000_000);
    expect(json).toBeGreaterThan(2_000_000);
    expect(existsSync(readFileSync(path, 'utf8').trim())).toBe(false);
  });

  it('streams the answer in the chunks of --chunk', async () => {
    await using agent = await ServedAgent.start(['serve', '--exec', 'printf "one\\ntwo\\nthree"', '--chunk', '\\n']);
    // If the program ends late, the last chunk repeats the whole text.
    expect((await chunksOf(agent.url)).slice(0, 3)).toEqual(['one\n', 'two\n', 'three']);
    expect(textsOf(await call(agent.url, 'x'))).toEqual(['one\ntwo\nthree']);
  });

  it('fails the task of a program that fails', async () => {
    await using agent = await ServedAgent.start(['serve', '--exec', 'exit 3']);
    const { status } = (await call(agent.url, 'x')).result?.task ?? {};
    expect(status?.state).toBe('TASK_STATE_FAILED');
    expect(status?.message?.parts[0]?.text).toBe('The program ended with exit code 3');
  });

  it('kills the program and its children when the task is canceled', async () => {
    const mark = join(folder.path, 'pid');
    await using agent = await ServedAgent.start([
      'serve',
      '--exec',
      `sleep 600 & echo $! > ${mark}; echo started; wait`,
      '--chunk',
      '\\n',
    ]);
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
    const sent = await fetch(`${agent.url}/a2a/rest/message:stream`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ message }),
    });
    let seen = '';
    for await (const chunk of sent.body ?? []) {
      seen += Buffer.from(chunk).toString();
      const id = /"taskId":"([^"]+)"/.exec(seen)?.[1];
      if (!seen.includes('started') || id === undefined) continue;
      await fetch(`${agent.url}/a2a/rest/tasks/${id}:cancel`, { method: 'POST', headers });
      break;
    }
    expect(existsSync(mark)).toBe(true);
    const pid = Number(readFileSync(mark, 'utf8'));
    await expect.poll(() => isAlive(pid), { timeout: 15_000, interval: 20 }).toBe(false);
  });
});

async function chunksOf(url: string): Promise<string[]> {
  const response = await fetch(`${url}/a2a/rest/message:stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } }),
  });
  const updates = [...(await response.text()).matchAll(/^data: (.*"artifactUpdate".*)$/gm)];
  return updates.map(([, data = '']) => JSON.parse(data).artifactUpdate.artifact.parts[0].text as string);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process has ended, but is still in the process table.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

it('DEMO_SERVER_001: demo-server prints its address and its commands', async () => {
  await using agent = await ServedAgent.start(['demo-server']);
  const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as { skills: { id: string }[] };
  const words = ['message', 'fail', 'reject', 'ask', 'auth', 'stream', 'slow', 'file', 'data', 'text'];
  expect(card.skills.map(({ id }) => id)).toEqual(words);
  expect(textsOf(await call(agent.url, 'text hello'))).toEqual(['You said: text hello']);
  expect((await call(agent.url, 'message hi')).result?.message?.parts[0]?.text).toBe('You said: message hi');
  const { stdout } = await agent.running.stop();
  expect(stdout).toMatch(/^Agent: Demo\nURL: \S+\nCard: \S+\n$/);
});

describe('parley serve --proxy', () => {
  it('forwards calls to another agent and logs them, without secrets', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo']);
    await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url]);
    const card = (await (await fetch(`${proxy.url}/.well-known/agent-card.json`)).json()) as {
      supportedInterfaces: { url: string }[];
    };
    const urls = card.supportedInterfaces.map(({ url }) => url);
    expect(urls).toContain(`${proxy.url}/a2a/jsonrpc`);
    expect(urls.filter((url) => !url.startsWith(proxy.url))).toEqual([]);
    expect(textsOf(await call(`${proxy.url}/a2a/jsonrpc`, 'through'))).toEqual(['Echo: through']);
    const { stderr } = await proxy.running.stop();
    expect(stderr).toMatch(/→ #2 POST \/a2a\/jsonrpc\n {4}\{"jsonrpc".*through/);
    expect(stderr).toMatch(/← #2 200 application\/json\n {4}.*Echo: through/);
    expect(stderr).not.toContain('very-secret');
  });

  it('forwards streams without delay, and logs JSON lines to a file', async () => {
    const log = join(folder.path, 'traffic.jsonl');
    await using agent = await ServedAgent.start(['demo-server']);
    await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url, '--traffic-log', log]);
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-api-key': 'very-secret' };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'stream' }] };
    const body = JSON.stringify({ message });
    const streamed = await (
      await fetch(`${proxy.url}/a2a/rest/message:stream`, { method: 'POST', headers, body })
    ).text();
    expect(streamed).toContain('TASK_STATE_COMPLETED');
    const entries = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { what: string; body?: string });
    expect(new Set(entries.map(({ what }) => what))).toEqual(new Set(['request', 'response', 'event', 'end']));
    expect(
      entries
        .filter(({ what }) => what === 'event')
        .map(({ body }) => body)
        .join(''),
    ).toBe(streamed);
    expect(readFileSync(log, 'utf8')).not.toContain('very-secret');
  });

  it('logs no key, token or credential, in any place of a request', async () => {
    const log = join(folder.path, 'secrets.jsonl');
    const card = {
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'query', name: 'subscription' } } },
      capabilities: { pushNotifications: true, streaming: true },
    };
    const config = { id: 'c1', taskId: 't1', url: 'https://hook.example', token: 'secret-6' };
    await using agent = await RecordingAgent.start({
      card,
      answer: ({ body }) =>
        body.method === 'SendStreamingMessage'
          ? stream({ task: { id: 't1', status: {}, metadata: { access_token: 'secret-7' } } })
          : result({ ...config, authentication: { scheme: 'Basic', credentials: 'secret-8' } }),
    });
    for (const file of [log, undefined]) {
      const logged = file === undefined ? [] : ['--traffic-log', file];
      await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url, ...logged]);
      await fetch(`${proxy.url}/.well-known/agent-card.json`);
      const post = (path: string, method: string, params: object) =>
        fetch(`${proxy.url}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            cookie: 'session=secret-1',
            authorization: `Basic ${Buffer.from('user:secret-2').toString('base64')}`,
            'x-auth-key': 'secret-3',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        });
      await post('/rpc?subscription=secret-4&api_key=secret-5&page=2', 'CreateTaskPushNotificationConfig', config);
      await (await post('/rpc?x-functions-key=secret-9', 'SendStreamingMessage', {})).text();
      const { stderr } = await proxy.running.stop();
      const text = file === undefined ? stderr : readFileSync(file, 'utf8');
      expect(text).toMatch(/page=2/);
      expect(text).toContain('https://hook.example');
      expect(text.match(/secret-\d/g)).toBeNull();
      expect(text).not.toContain(Buffer.from('user:secret-2').toString('base64'));
    }
    expect(JSON.stringify(agent.requests)).toMatch(/secret-4[\s\S]*secret-6/);
  });

  it('answers with an error if the agent is unreachable', async () => {
    await using proxy = await ServedAgent.start(['serve', '--proxy', 'http://127.0.0.1:1']);
    const response = await fetch(`${proxy.url}/.well-known/agent-card.json`);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 502 } });
  });
});

it('parley serve stops at once on a second signal', async () => {
  await using agent = await ServedAgent.start(['demo-server']);
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'slow 600' }] };
  const body = JSON.stringify({ message, configuration: { returnImmediately: true } });
  await fetch(`${agent.url}/a2a/rest/message:send`, { method: 'POST', headers, body });
  agent.running.process.kill('SIGINT');
  agent.running.process.kill('SIGTERM');
  const { code } = await agent.running.ended;
  expect(code).toBe(130);
});

/** A second signal within this time is the same one, forwarded. The server has 500 ms. */
const FORWARDED_MS = 400;

it('parley serve counts a signal that npx forwards as the same signal', async () => {
  const read = async (url: string) => (await fetch(`${url}/readyz`)).status;
  for (let round = 0; round < 5; round++) {
    await using agent = await ServedAgent.start(['serve', '--echo', '--drain', '1s']);
    const began = performance.now();
    agent.running.process.kill('SIGINT');
    await vi.waitFor(async () => expect(await read(agent.url)).toBe(503), { timeout: 10_000, interval: 10 });
    agent.running.process.kill('SIGINT');
    const gap = performance.now() - began;
    const { code } = await agent.running.ended;
    // If the machine stood still between both, the second signal is a signal of its own.
    if (gap > FORWARDED_MS) continue;
    expect(code).toBe(0);
    return;
  }
  expect.unreachable('the machine stood still five times');
});

it('parley serve --echo answers half a second after its start', async () => {
  const took: number[] = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    await using running = new RunningParley(['serve', '--echo', '--port', '0']);
    const url = await running.waitForStdout(/^URL: (\S+)$/m);
    await call(url, 'hello');
    took.push(performance.now() - began);
  }
  // The fastest of several starts, because other processes slow some of them. Half a second on an idle machine.
  expect(Math.min(...took)).toBeLessThan(1500);
});

describe('variables of parley serve', () => {
  it('PORT and HOST set the address to listen on', async () => {
    const port = await freePort();
    const env = { PORT: String(port), HOST: '127.0.0.1', A2ACLI_ECHO: 'true' };
    await using running = new RunningParley(['serve'], { env });
    expect(await running.waitForStdout(/^URL: (\S+)$/m)).toBe(`http://127.0.0.1:${port}`);
    expect(textsOf(await call(`http://127.0.0.1:${port}`, 'x'))).toEqual(['Echo: x']);
  });

  it('an agent on the command line wins over variables', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo'], { env: { A2ACLI_EXEC: 'false', PORT: '1' } });
    expect(textsOf(await call(agent.url, 'x'))).toEqual(['Echo: x']);
  });
});

describe('hosts and pages of other origins', () => {
  const origin = 'https://page.example';

  it('an agent without credentials accepts only hosts of this machine', async () => {
    await using agent = await ServedAgent.start(['serve', '--echo']);
    const { port } = new URL(agent.url);
    expect((await answerFor(port, { host: `rebound.example:${port}` })).statusCode).toBe(421);
    const answer = await answerFor(port, { host: `localhost:${port}`, origin });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('a proxy accepts only hosts of this machine, and no page that its agent allows', async () => {
    const seen: string[] = [];
    const behind = createHttpServer((request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'application/json' }).end('{}');
    }).listen(0, '127.0.0.1');
    await once(behind, 'listening');
    const target = `http://127.0.0.1:${(behind.address() as AddressInfo).port}`;
    await using agent = await ServedAgent.start(['serve', '--proxy', target]);
    const { port } = new URL(agent.url);
    expect((await answerFor(port, { host: 'rebound.example' })).statusCode).toBe(421);
    expect(seen).toEqual([]);
    const answer = await answerFor(port, { host: `127.0.0.1:${port}`, origin });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    behind.close();
  });
});

async function answerFor(port: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const request = get({ port, host: '127.0.0.1', path: '/.well-known/agent-card.json', headers });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  return answer;
}
