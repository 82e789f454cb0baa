import { afterEach, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { LogFields } from '../../packages/parley/src/telemetry/logger.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const CANARY = 'canary-4711';

it('no line at info or above has anything of what messages say, nor a credential', async () => {
  const lines: string[] = [];
  const say = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger = { debug() {}, info: say('info'), warn: say('warn'), error: say('error') };
  const authenticator = new BearerTokens([{ subject: 'me', token: `token-${CANARY}` }]);
  const agent = async function* (prompt: string) {
    yield `Echo: ${prompt}`;
  };
  const server = createA2AServer({ agent, authenticator, logger, versionWhenAbsent: '1.0' });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const send = async (path: string, body: string | undefined, headers: Record<string, string> = {}) => {
    const all = { authorization: `Bearer token-${CANARY}`, 'content-type': 'application/json', ...headers };
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: all,
      body: body ?? null,
    });
    await response.text();
    return response.status;
  };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: CANARY }, { data: { secret: CANARY } }] };
  for (const method of ['SendMessage', 'SendStreamingMessage', 'Unknown', 'GetTask']) {
    const params = { message, metadata: { note: CANARY } };
    await send('/', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  }
  const wrong = { ...message, parts: [{ text: CANARY, url: CANARY }] };
  await send('/', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: wrong } }));
  await send('/', `{"${CANARY}`);
  await send('/a2a/rest/message:send', JSON.stringify({ message }));
  await send('/a2a/rest/message:send', JSON.stringify({ message: { ...message, role: CANARY } }));
  await send(`/a2a/rest/tasks?contextId=${CANARY}`, undefined);
  expect(await send('/', '{}', { authorization: `Bearer other-${CANARY}`, cookie: `a=${CANARY}` })).toBeLessThan(500);
  expect(lines.filter((line) => line.startsWith('info request'))).toHaveLength(10);
  expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
});
