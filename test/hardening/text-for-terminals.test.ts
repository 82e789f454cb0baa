import { writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { EmptyFolder, type ParleyResult, parley, RunningParley, ServedAgent } from '../cli/parley.js';
import { PseudoTerminal, terminalCases } from '../cli/pseudo-terminal.js';
import { type Answer, RecordingAgent, result, stream } from '../cli/recording-agent.js';
import { FORGED_LINES, forgedIn, HOSTILE_TEXT, unsafeIn } from './hostile-text.js';

/** The line editor of a terminal moves its cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal sends them
const CURSOR = /\u001b\[\d*[GJK]|\r/g;
const isLong = process.env.TEST_LONG !== undefined;
const EVIL = `${HOSTILE_TEXT}${FORGED_LINES}`;

const evilPart = (part: object) => ({ ...part, metadata: { [EVIL]: EVIL } });
const evilTask = {
  id: EVIL,
  contextId: EVIL,
  status: {
    state: 'TASK_STATE_AUTH_REQUIRED',
    message: { messageId: EVIL, role: 'ROLE_AGENT', parts: [{ text: EVIL }] },
  },
  metadata: { [EVIL]: EVIL },
  history: [{ messageId: EVIL, role: 'ROLE_USER', parts: [{ text: EVIL }] }],
  artifacts: [
    {
      artifactId: EVIL,
      name: EVIL,
      description: EVIL,
      parts: [
        evilPart({ text: EVIL }),
        evilPart({ data: { [EVIL]: [EVIL] } }),
        evilPart({ raw: 'eA==', filename: EVIL, mediaType: EVIL }),
        evilPart({ url: `https://example.com/${EVIL}`, filename: EVIL }),
        {
          data: {
            toolCall: { id: EVIL, tool: EVIL, state: EVIL, input: { [EVIL]: EVIL }, failure: { message: EVIL } },
          },
        },
      ],
    },
  ],
};
const evilCard = (url: string) => ({
  name: EVIL,
  description: EVIL,
  version: EVIL,
  provider: { organization: EVIL, url: `https://example.com/${EVIL}` },
  documentationUrl: EVIL,
  supportedInterfaces: [
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/${EVIL}`, protocolBinding: EVIL, protocolVersion: EVIL, tenant: EVIL },
  ],
  capabilities: { streaming: true, extensions: [{ uri: EVIL }] },
  securitySchemes: { [EVIL]: { apiKeySecurityScheme: { location: 'header', name: EVIL } } },
  defaultInputModes: [EVIL],
  defaultOutputModes: [EVIL],
  skills: [{ id: EVIL, name: EVIL, description: EVIL, tags: [EVIL], examples: [EVIL] }],
  [EVIL]: EVIL,
});
const plain = { capabilities: { streaming: true } };
const evilError: Answer = () => ({
  body: {
    jsonrpc: '2.0',
    error: {
      code: -32602,
      message: EVIL,
      data: [{ '@type': EVIL, fieldViolations: [{ field: EVIL, description: EVIL }] }],
    },
  },
});

function expectSafe({ stdout, stderr }: Pick<ParleyResult, 'stdout' | 'stderr'>): void {
  expect([unsafeIn(stdout), unsafeIn(stderr), forgedIn(stderr)]).toEqual([undefined, undefined, []]);
  expect(stdout + stderr).toContain('end');
}

describe('text of an agent in the output of a command', () => {
  it.each<[string, readonly string[], object | ((url: string) => object), Answer]>([
    ['a card', ['card', 'get', '{url}', '--verbose'], evilCard, evilError],
    ['a card that does not follow the schema', ['card', 'get', '{url}', '--validate'], evilCard, evilError],
    [
      'a message',
      ['send', 'x', '-a', '{url}', '--verbose'],
      {},
      () => result({ message: { messageId: EVIL, role: 'ROLE_AGENT', parts: evilTask.artifacts[0]?.parts } }),
    ],
    ['a task', ['send', 'x', '-a', '{url}', '--verbose'], {}, () => result({ task: evilTask })],
    ['a task without details', ['send', 'x', '-a', '{url}'], {}, () => result({ task: evilTask })],
    ['a stored task', ['task', 'get', 't1', '-a', '{url}', '--verbose'], {}, () => result(evilTask)],
    [
      'a list of tasks',
      ['task', 'list', '-a', '{url}'],
      {},
      () => result({ tasks: [evilTask], nextPageToken: EVIL, pageSize: 1, totalSize: 1 }),
    ],
    ['files', ['task', 'download', 't1', '-a', '{url}', '--dir', '{dir}'], {}, () => result(evilTask)],
    [
      'push configurations',
      ['task', 'push-config', 'list', 't1', '-a', '{url}'],
      { capabilities: { pushNotifications: true } },
      () => result({ configs: [{ id: EVIL, taskId: EVIL, url: `https://example.com/${EVIL}` }] }),
    ],
    [
      'a stream',
      ['send', 'x', '-a', '{url}', '--stream', '--verbose'],
      plain,
      () =>
        stream(
          { task: evilTask },
          { artifactUpdate: { taskId: EVIL, contextId: EVIL, artifact: evilTask.artifacts[0] } },
          {
            statusUpdate: { taskId: EVIL, contextId: EVIL, status: { ...evilTask.status, state: 'TASK_STATE_FAILED' } },
          },
        ),
    ],
    ['an error of the protocol', ['send', 'x', '-a', '{url}'], {}, evilError],
    ['an error of HTTP', ['send', 'x', '-a', '{url}'], {}, () => ({ status: 502, body: EVIL })],
    ['an answer that is none', ['send', 'x', '-a', '{url}'], {}, () => ({ body: { [EVIL]: EVIL } })],
    ['an error, with --debug', ['send', 'x', '-a', '{url}', '--debug'], {}, evilError],
    [
      'exchanges, with --debug',
      ['send', 'x', '-a', '{url}', '--debug'],
      {},
      () => ({ ...result({ task: evilTask }), headers: { 'x-evil': 'a\u009b31m\u0085b end' } }),
    ],
    ['a report of the conformance tester', ['conformance', '-a', '{url}'], evilCard, evilError],
  ])(
    '%s',
    async (name, args, card, answer) => {
      await using agent = await RecordingAgent.start({ card, answer });
      // Both forms of JSON escape in the same way: a row has one of them; in the long form both.
      const formats = ['text', ...(isLong ? ['json', 'jsonl'] : [name.length % 2 === 0 ? 'json' : 'jsonl'])];
      for (const format of formats) {
        using folder = new EmptyFolder();
        const given = args.map((one) => one.replace('{url}', agent.url).replace('{dir}', folder.path));
        expectSafe(await parley([...given, '-o', format]));
      }
    },
    60_000,
  );

  it('a request for authorization', async () => {
    await using agent = await RecordingAgent.start({
      answer: ({ body }) =>
        result(
          body.method === 'GetTask' ? { ...evilTask, status: { state: 'TASK_STATE_COMPLETED' } } : { task: evilTask },
        ),
    });
    expectSafe(await parley(['send', 'x', '-a', agent.url, '--await-auth', '--poll-interval', '10ms']));
  });

  it('a conversation', async () => {
    await using agent = await RecordingAgent.start({
      card: { ...plain, name: EVIL },
      answer: () => stream({ task: evilTask }),
    });
    expectSafe(await parley(['chat', '-a', agent.url], { input: 'x\n' }));
  });

  it.for(terminalCases())('a conversation at a terminal', async () => {
    const answer: Answer = () =>
      stream({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: `*${EVIL}*` }] } });
    await using agent = await RecordingAgent.start({ card: { ...plain, name: EVIL }, answer });
    await using terminal = new PseudoTerminal(['chat', '-a', agent.url], { NO_COLOR: '1' });
    await terminal.shows(/> /);
    terminal.type('x\n');
    const shown = await terminal.shows(/forged: five[\s\S]*> /);
    expect(unsafeIn(shown.replaceAll(CURSOR, ''))).toBeUndefined();
  });
});

describe('text of a caller in the output of a server', () => {
  /** Sends bytes as they are, one character each. */
  const raw = (url: string, bytes: string) =>
    new Promise<void>((resolve) => {
      const socket = connectTcp(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'));
      socket.on('error', () => resolve()).on('close', () => resolve());
      socket.once('data', () => socket.destroy());
    });
  const body = (text: string) => JSON.stringify({ jsonrpc: '2.0', id: text, method: text, params: { [text]: text } });
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');

  async function attack(url: string): Promise<void> {
    const hostile = utf8(EVIL.replaceAll(/[\0-\u0020\u007f]/g, ''));
    const lines = [
      `GET /${hostile} HTTP/1.1`,
      `GET /${encodeURI(EVIL)} HTTP/1.1`,
      'GET /c1\x9b31m\x85end HTTP/1.1',
      `POST /?${hostile} HTTP/1.1`,
      `GET /.well-known/agent-card.json?${hostile} HTTP/1.1`,
      `EVIL\x9b HTTP/1.1`,
    ];
    for (const line of lines)
      await raw(
        url,
        `${line}\r\nHost: 127.0.0.1\r\nX-Request-Id: ${hostile}\r\nUser-Agent: ${hostile}\r\nA2A-Version: ${hostile}\r\nConnection: close\r\n\r\n`,
      );
    for (const type of ['application/json', utf8(`application/${EVIL}`).replaceAll(/[\0-\u0020\u007f]/g, '')]) {
      const text = utf8(body(EVIL));
      await raw(
        url,
        `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
      );
    }
    await raw(
      url,
      `GET / HTTP/1.1\r\nHost: ${hostile}\r\nOrigin: ${hostile}\r\nAuthorization: Bearer ${hostile}\r\nConnection: close\r\n\r\n`,
    );
  }

  it('of an agent that throws it, with all lines of the log', async () => {
    using folder = new EmptyFolder();
    const module = join(folder.path, 'agent.mjs');
    const agent = `export default { agent: (text) => { throw Object.assign(new Error(text, { cause: text }), { [text]: text }); } };`;
    writeFileSync(module, agent);
    await using served = await ServedAgent.start(['serve', module, '--debug']);
    await attack(served.url);
    await (await connect(served.url)).ask(EVIL);
    const output = await served.running.stop();
    expectSafe(output);
    expect(output.stderr).toContain('gpj.exe');
  });

  it('of a program that repeats it on its stderr', async () => {
    await using served = await ServedAgent.start(['serve', '--exec', 'cat >&2; exit 3', '--debug']);
    await attack(served.url);
    await (await connect(served.url)).ask(`${EVIL}`);
    const { stdout, stderr } = await served.running.stop();
    expect([unsafeIn(stdout), unsafeIn(stderr)]).toEqual([undefined, undefined]);
    expect(stderr).toContain('gpj.exe');
  });

  it('of a proxy, with the traffic on stderr', async () => {
    await using agent = await RecordingAgent.start({ card: evilCard, answer: evilError });
    await using served = await ServedAgent.start(['serve', '--proxy', agent.url]);
    await attack(served.url);
    await fetch(`${served.url}/rpc`, {
      method: 'POST',
      body: body(EVIL),
      headers: { 'content-type': 'application/json' },
    });
    expectSafe(await served.running.stop());
  });

  it('of a receiver of push notifications', async () => {
    const hook = new RunningParley(['push', 'receive', '--port', '0']);
    const url = await hook.waitForStderr(/Webhook: (\S+)/);
    await attack(url);
    for (const update of [
      { task: evilTask },
      { message: { messageId: EVIL, role: 'ROLE_AGENT', parts: [{ text: EVIL }] } },
    ])
      await fetch(url, {
        method: 'POST',
        body: JSON.stringify(update),
        headers: { 'content-type': 'application/a2a+json' },
      });
    expectSafe(await hook.stop());
  });
});

describe('text of other origin in the output of a command', () => {
  it.each([
    ['arguments that are no command', [EVIL], {}],
    ['a flag that is none', [`--${EVIL}`], {}],
    ['a value of a flag', ['send', 'x', '-a', 'http://127.0.0.1:1', '--timeout', EVIL], {}],
    ['a reference to an agent', ['card', 'get', `http://127.0.0.1:1/${EVIL}`], {}],
    ['a file that is not there', ['card', 'get', `./${EVIL}`], {}],
    ['a value of the environment', ['card', 'get', 'http://127.0.0.1:1'], { A2ACLI_TRANSPORT: EVIL }],
    ['all settings', ['config', 'show'], { A2ACLI_TENANT: EVIL, A2ACLI_AGENT_CARD: EVIL }],
    ['an error code that is none', ['error', EVIL], {}],
    ['a database that is none', ['db', 'status', '--database', `postgres://127.0.0.1:1/${EVIL}`], {}],
    ['a command of another tool', ['discover', EVIL], {}],
  ])('%s', async (_name, args, env) => {
    expectSafe(
      await parley(
        args.map((one) => one.replaceAll('\0', '')),
        { env },
      ),
    );
  });

  it('names and values of a file in the folder', async () => {
    using folder = new EmptyFolder();
    for (const text of [
      JSON.stringify({ [EVIL]: EVIL }),
      JSON.stringify({ tenant: EVIL, output: EVIL }),
      `{ ${EVIL}`,
    ]) {
      writeFileSync(join(folder.path, '.a2acli.json'), text);
      for (const args of [
        ['config', 'show'],
        ['card', 'get', 'http://127.0.0.1:1'],
      ]) {
        const { stdout, stderr } = await parley(args, { cwd: folder.path });
        expect([unsafeIn(stdout), unsafeIn(stderr), forgedIn(stderr)]).toEqual([undefined, undefined, []]);
      }
    }
  });
});
