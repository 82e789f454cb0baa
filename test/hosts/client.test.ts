import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { framesOf } from '../../packages/parley/test/exchange-request.js';
import { BreakingProxy } from '../client-streams/breaking-proxy.js';
import { talkativeAgent } from '../client-streams/talkative-agent.js';
import { freePort } from '../support/servers/free-port.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const bin = (name: string) => `${folder}node_modules/.bin/${name}`;
const script = (name: string) => `${folder}clients/${name}.mjs`;

/** The program imports the calls of the test by their path, and with them the library. */
const READ_CODE = `--allow-read=${fileURLToPath(new URL('../../', import.meta.url))}`;

/** The command that runs the client on each runtime. It prints the result. */
const RUNTIMES: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  node: [process.execPath, script('program')],
  deno: [bin('deno'), 'run', '--allow-net=127.0.0.1', '--allow-env', READ_CODE, '--no-prompt', script('program')],
  bun: [bin('bun'), script('program')],
  workerd: [process.execPath, script('workerd')],
  ...(process.env.CHROMIUM !== undefined && { chromium: [process.execPath, script('chromium')] as const }),
};

const agent: AgentExecutor = {
  async execute(context, events) {
    if (context.text !== 'wait') return talkativeAgent.execute(context, events);
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
  },
};

describe.each(Object.entries(RUNTIMES))('the client on %s', (runtime, [program, ...args]) => {
  it('calls, streams through what breaks, and tells what went wrong', async () => {
    const proxy = new BreakingProxy();
    const server = createA2AServer({
      name: 'Talker',
      agent,
      idempotency: { anonymous: true },
      cors: { origins: '*', allowedHeaders: ['x-luck'] },
      logger: silentLogger,
    });
    const [through, { url }] = await Promise.all([proxy.listen(), server.listen(0)]);
    try {
      proxy.target = Number(new URL(url).port);
      const interfaces = server.agentCard.supportedInterfaces.map((item) => ({
        ...item,
        url: item.url.replace(url, through),
      }));
      const task = {
        base: url,
        card: { ...server.agentCard, supportedInterfaces: interfaces },
        nowhere: `http://127.0.0.1:${await freePort()}`,
        luck: 3,
      };
      const { PATH = '', HOME = '' } = process.env;
      const { stdout } = await promisify(execFile)(program, [...args, JSON.stringify(task)], {
        cwd: folder,
        env: { PATH, HOME, NO_COLOR: '1' },
        timeout: 110_000,
      });
      const told = JSON.parse(stdout);
      const names = {
        state: expect.stringMatching(/COMPLETED|FAILED/),
        missing: 'TaskNotFoundError',
        late: 'TimeoutError',
        left: 'RangeError',
      };
      for (const binding of ['JSONRPC', 'HTTP+JSON']) {
        expect(told[binding]).toMatchObject(names);
        const { taskId, events } = told[binding];
        const answer = await fetch(`${url}/a2a/rest/tasks/${taskId}:subscribe`, {
          headers: { 'a2a-version': '1.0', 'last-event-id': '0' },
        });
        expect(events).toEqual(framesOf(await answer.text()).map(({ data }) => data));
      }
      expect(told.JSONRPC.breaks + told['HTTP+JSON'].breaks).toBeGreaterThan(0);
      // Workers and pages are not told whether there was a connection.
      expect(told.nowhere).toMatchObject({
        name: 'ConnectionError',
        code: 'UNAVAILABLE',
        ...(runtime !== 'workerd' && runtime !== 'chromium' && { sent: false }),
      });
      expect(told.found).toBe('Talker');
    } finally {
      await proxy.close();
      await server.close({ graceMs: 0 });
    }
  });
});
