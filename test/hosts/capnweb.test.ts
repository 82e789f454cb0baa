import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CAPNWEB_BINDING, capnwebBinding } from '../../packages/capnweb/src/index.js';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { fetchAgentCard } from '../../packages/parley/src/exports/client.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { ResettingProxy } from '../support/resetting-proxy.js';
import { HostProcess } from './host-process.js';
import { countingAgent } from './servers/counting-agent.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const bin = (name: string) => `${folder}node_modules/.bin/${name}`;
const script = (name: string) => `${folder}clients/${name}.mjs`;

/** The command that runs the client on each runtime. It prints the result. */
const RUNTIMES: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  node: [process.execPath, script('program')],
  deno: [bin('deno'), 'run', '--allow-net=127.0.0.1', '--allow-env', '--allow-read', '--no-prompt', script('program')],
  bun: [bin('bun'), script('program')],
  workerd: [process.execPath, script('workerd')],
  ...(process.env.CHROMIUM !== undefined && { chromium: [process.execPath, script('chromium')] as const }),
};

/** The report of a client about an agent. */
async function runCalls(
  runtime: string,
  card: AgentCard,
  { file = './capnweb-calls.mjs', ...more }: { readonly file?: string; readonly [option: string]: unknown } = {},
): Promise<Record<string, unknown>> {
  const [program = '', ...args] = RUNTIMES[runtime] ?? [];
  const { PATH = '', HOME = '' } = process.env;
  const { stdout } = await promisify(execFile)(
    program,
    [...args, JSON.stringify({ card, token: 'secret', ...more }), file],
    { cwd: folder, env: { PATH, HOME, NO_COLOR: '1' }, timeout: 110_000 },
  );
  return JSON.parse(stdout);
}

/** The card with its interface of Cap'n Web only, at another port. */
function sessionCard(card: AgentCard, port: number): AgentCard {
  const supportedInterfaces = card.supportedInterfaces
    .filter(({ protocolBinding }) => protocolBinding === CAPNWEB_BINDING)
    .map((item) => ({ ...item, url: item.url.replace(/:\d+/, `:${port}`) }));
  return { ...card, supportedInterfaces };
}

const OBJECTS = './capnweb-objects.mjs';
/** The events of a task that counts to 300: three states, and the numbers. */
const EVENTS = 303;
const numbersTo = (length: number) => Array.from({ length }, (_, at) => at + 1);

const EXPECTED = {
  binding: CAPNWEB_BINDING,
  echo: 'Echo: hello',
  numbers: Array.from({ length: 300 }, (_, at) => String(at)),
  canceled: 'TASK_STATE_CANCELED',
  last: 'TASK_STATE_CANCELED',
  file: true,
  missing: 'TaskNotFoundError',
  late: 'TimeoutError',
  stranger: 'UnauthenticatedError',
};

function createCountingServer(origins: readonly string[] | '*' | undefined) {
  return createA2AServer({
    name: 'Counter',
    agent: countingAgent,
    authenticator: new BearerTokens([{ token: 'secret', subject: 'tester' }]),
    bindings: [capnwebBinding()],
    ...(origins !== undefined && { cors: { origins } }),
    logger: silentLogger,
  });
}

describe.each(Object.keys(RUNTIMES))('the client over Cap’n Web on %s', (runtime) => {
  it('authenticates in band, calls, streams through connections that are reset, and cancels', async () => {
    const server = createCountingServer('*');
    try {
      const { url } = await server.listen(0);
      let connections = 0;
      await using proxy = await ResettingProxy.open(Number(new URL(url).port), () =>
        ++connections <= 3 ? 12_000 * connections : Number.POSITIVE_INFINITY,
      );
      const result = await runCalls(runtime, sessionCard(server.agentCard, proxy.port));
      expect(result).toMatchObject(EXPECTED);
      // A reset on workerd may hit another call than the stream.
      if (runtime !== 'workerd') expect(result.breaks).toBeGreaterThan(0);
    } finally {
      await server.close({ graceMs: 0 });
    }
  });

  it('follows a task by callbacks through connections that are reset, and streams files both ways', async () => {
    const server = createCountingServer('*');
    try {
      const { url } = await server.listen(0);
      let connections = 0;
      await using proxy = await ResettingProxy.open(Number(new URL(url).port), () =>
        ++connections <= 3 ? 12_000 * connections : Number.POSITIVE_INFINITY,
      );
      const direct = `${url.replace('http', 'ws')}/a2a/capnweb`;
      const result = await runCalls(runtime, sessionCard(server.agentCard, proxy.port), { file: OBJECTS, direct });
      expect(result).toEqual({
        quick: numbersTo(EVENTS),
        slow: numbersTo(EVENTS),
        feed: numbersTo(EVENTS),
        failing: 'too much',
        isLeft: true,
        rest: numbersTo(EVENTS).slice(290),
        files: { name: 'large', isBegun: true, length: 3_000_000, isSame: true },
        stock: numbersTo(EVENTS - 280),
        plain: { artifacts: 20, others: 'status', isFinal: true },
      });
      expect(proxy.resets).toBe(3);
    } finally {
      await server.close({ graceMs: 0 });
    }
  });
});

it.runIf(process.env.CHROMIUM !== undefined)('a page of an origin that is not allowed opens no session', async () => {
  const server = createCountingServer(undefined);
  try {
    const { url } = await server.listen(0);
    const result = await runCalls('chromium', sessionCard(server.agentCard, Number(new URL(url).port)), {
      attempts: 0,
    });
    expect(result.failed).toContain('No WebSocket could be opened');
  } finally {
    await server.close({ graceMs: 0 });
  }
});

describe('an agent on workerd over Cap’n Web', () => {
  it.each(['node', 'workerd'])('serves a client on %s', async (runtime) => {
    await using worker = await HostProcess.start({
      command: [process.execPath, `${folder}servers/capnweb-workerd.mjs`],
    });
    const card = await fetchAgentCard(worker.url);
    const result = await runCalls(runtime, sessionCard(card, Number(new URL(worker.url).port)));
    expect(result).toMatchObject(EXPECTED);
  });
});
