import { afterEach, expect, it } from 'vitest';
import { type A2AServerOptions, createA2AServer } from './node.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

async function world(options: Partial<A2AServerOptions> = {}) {
  const skills = [{ id: 's', name: 's', description: 'long '.repeat(1000), tags: ['t'] }];
  const server = createA2AServer({ agent: (prompt: string) => prompt, skills, ...options } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  let sent = 0;
  const call = (method: string, text: string, encodings: string) => {
    const params = { message: { messageId: `m${++sent}`, role: 'ROLE_USER', parts: [{ text }] } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return fetch(url, { method: 'POST', headers: { ...HEADERS, 'accept-encoding': encodings }, body });
  };
  return { url, call };
}

const encodingOf = (response: Response) => response.headers.get('content-encoding');
const LONG = 'a long text, '.repeat(1000);

it('a server compresses long answers, and nothing else', async () => {
  const { url, call } = await world();
  for (const encoding of ['gzip', 'br']) {
    const long = await call('SendMessage', LONG, encoding);
    expect([encodingOf(long), long.headers.get('vary')]).toEqual([encoding, 'Accept-Encoding']);
    expect(Number(long.headers.get('content-length'))).toBeLessThan(LONG.length / 10);
    expect(await long.json()).toMatchObject({ result: { task: { artifacts: [{ parts: [{ text: LONG }] }] } } });
    const short = await call('SendMessage', 'short', encoding);
    expect([encodingOf(short), short.headers.get('vary')]).toEqual([null, null]);
    const stream = await call('SendStreamingMessage', LONG, encoding);
    expect(encodingOf(stream)).toBeNull();
    expect(await stream.text()).toContain(LONG);
    const card = await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'accept-encoding': encoding } });
    expect(encodingOf(card)).toBeNull();
    expect((await card.text()).length).toBeGreaterThan(5_000);
  }
  expect(encodingOf(await call('SendMessage', LONG, 'identity'))).toBeNull();
  const head = await fetch(`${url}/.well-known/agent-card.json`, {
    method: 'HEAD',
    headers: { 'accept-encoding': 'gzip' },
  });
  expect([head.status, encodingOf(head), await head.text()]).toEqual([200, null, '']);
});

it('unless it is told not to, or only from another length on', async () => {
  const off = await world({ compression: false });
  expect(encodingOf(await off.call('SendMessage', LONG, 'gzip'))).toBeNull();
  const late = await world({ compression: { minimumLength: 100_000 } });
  expect(encodingOf(await late.call('SendMessage', LONG, 'gzip'))).toBeNull();
});
