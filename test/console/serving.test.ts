import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { ApiKeys } from 'parley-a2a/auth';
import { type A2AHost, type A2AHostOptions, createA2AHost } from 'parley-a2a/node';
import { afterEach, expect, it } from 'vitest';

const NAVIGATION = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-dest': 'document' };
const TEXT_BROWSER = { accept: 'text/html,*/*;q=0.8' };
const MOST_BYTES = 80_000;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

let host: A2AHost | undefined;
afterEach(async () => {
  await host?.close({ graceMs: 0 });
});

async function serve(options: Partial<A2AHostOptions> = {}): Promise<string> {
  const agents = { '/echo': { name: 'Echo', agent: (text: string) => text } };
  host = createA2AHost({ agents, console: true, push: false, logRequests: false, ...options });
  return (await host.listen(0)).url;
}

/** `fetch` does not send a Host of the caller. */
function get(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(url, { headers, method }, (answer) => {
    let body = '';
    answer.setEncoding('utf8');
    answer.on('data', (chunk: string) => {
      body += chunk;
    });
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}

const isConsole = ({ body }: Answer) => body.includes('<div id="console">');

it('a browser gets the console at / and at /console', async () => {
  const url = await serve();
  for (const path of ['/', '/console']) {
    const page = await get(`${url}${path}`, NAVIGATION);
    expect([page.status, isConsole(page)]).toEqual([200, true]);
    // The page without scripts shows the agents.
    expect(page.body).toMatch(/<noscript>.*<h2>Echo/s);
  }
});

it('curl, text browsers and programs get the same as without the console', async () => {
  const url = await serve();
  const listing = await get(`${url}/`);
  expect(JSON.parse(listing.body)).toMatchObject({ agents: [{ name: 'Echo' }] });
  const text = await get(`${url}/`, TEXT_BROWSER);
  expect([text.status, isConsole(text)]).toEqual([200, false]);
  expect(text.body).toContain('<h2>Echo');
  const sent = await get(`${url}/`, { 'content-type': 'application/json' }, 'POST');
  expect(isConsole(sent)).toBe(false);
});

it('a server without the option has no console', async () => {
  const url = await serve({ console: false });
  expect(isConsole(await get(`${url}/`, NAVIGATION))).toBe(false);
  expect((await get(`${url}/console`, NAVIGATION)).status).toBe(404);
  expect((await get(`${url}/console/agents.json`)).status).toBe(404);
});

it.each([
  ['forwarded', 'for=192.0.2.1'],
  ['x-forwarded-for', '192.0.2.1'],
  ['x-forwarded-proto', 'https'],
  ['x-forwarded-host', 'agents.example.com'],
  ['x-forwarded-prefix', '/a2a'],
  ['x-real-ip', '192.0.2.1'],
  ['via', '1.1 proxy'],
  ['cf-connecting-ip', '192.0.2.1'],
])('a request through a proxy gets no console: %s', async (name, value) => {
  const url = await serve({ publicHosts: ['agents.example.com'], trustProxy: ['loopback'] });
  const headers = { ...NAVIGATION, [name]: value };
  expect(isConsole(await get(`${url}/`, headers))).toBe(false);
  expect((await get(`${url}/console`, headers)).status).toBe(404);
  expect((await get(`${url}/console/agents.json`, headers)).status).toBe(404);
});

it('a request for a foreign host gets no console, not even for a public host of the server', async () => {
  const url = await serve({ publicHosts: ['agents.example.com'] });
  for (const name of ['evil.example', 'agents.example.com']) {
    const headers = { ...NAVIGATION, host: name };
    expect(isConsole(await get(`${url}/`, headers))).toBe(false);
    expect([404, 421]).toContain((await get(`${url}/console`, headers)).status);
  }
  expect(isConsole(await get(`${url}/`, { ...NAVIGATION, host: 'localhost:1' }))).toBe(true);
});

it('a page of another origin gets no console into a frame, and no script of it', async () => {
  const url = await serve();
  const framed = await get(`${url}/`, { ...NAVIGATION, 'sec-fetch-dest': 'iframe' });
  expect(isConsole(framed)).toBe(false);
  const { headers, body } = await get(`${url}/console`, NAVIGATION);
  expect(headers['x-frame-options'] ?? headers['content-security-policy']).toContain("frame-ancestors 'none'");
  const script = /src="([^"]+)"/.exec(body)?.[1];
  expect((await get(`${url}${script}`)).headers['cross-origin-resource-policy']).toBe('same-origin');
});

it('the policy allows files of the server only, and nothing inline', async () => {
  const url = await serve();
  const { headers, body } = await get(`${url}/`, NAVIGATION);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
  expect(body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
});

it('files are kept by browsers, because their names have hashes', async () => {
  const url = await serve();
  const { body } = await get(`${url}/`, NAVIGATION);
  const paths = [...body.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path);
  expect(paths.length).toBeGreaterThan(2);
  for (const path of paths) {
    const { status, headers } = await get(`${url}${path}`);
    expect([path, status, headers['cache-control']]).toEqual([path, 200, 'public, max-age=31536000, immutable']);
  }
  expect((await get(`${url}/console/..%2fmanifest.json`)).status).toBe(404);
  expect((await get(`${url}/console/nothing.js`)).status).toBe(404);
});

it('all scripts and styles of the first view have at most 80 kB, compressed', async () => {
  const folder = new URL(
    '../bundle/',
    `file://${createRequire(import.meta.url)
      .resolve('parley-a2a-console')
      .replace('/server/', '/')}`,
  );
  const manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')) as {
    readonly script: string;
    readonly style: string;
    readonly preloads: readonly string[];
  };
  const size = (names: readonly string[]) =>
    names.reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, folder)), { level: 9 }).length, 0);
  const first = size([manifest.script, manifest.style, ...manifest.preloads]);
  process.stdout.write(`the first view of the console: ${first} bytes compressed\n`);
  expect(first).toBeGreaterThan(10_000);
  expect(first).toBeLessThanOrEqual(MOST_BYTES);
  const guide = readFileSync(new URL('../../docs/console.md', import.meta.url), 'utf8');
  const told = Number(/^\| all scripts and styles .* \| ([\d.]+) kB \| 80 kB \|$/m.exec(guide)?.[1]);
  expect(Math.abs(told * 1000 - first)).toBeLessThan(1_000);
});

it('a protected server shows the console without a credential, and nothing of its agents in the page', async () => {
  const authenticator = new ApiKeys([{ key: 'key-of-ada-0123456789', subject: 'ada' }]);
  const url = await serve({ authenticator });
  const page = await get(`${url}/`, NAVIGATION);
  expect([page.status, isConsole(page)]).toEqual([200, true]);
  expect(page.body).not.toContain('Echo');
  const agents = await get(`${url}/console/agents.json`);
  expect(JSON.parse(agents.body)).toEqual({
    agents: [{ path: '/echo', card: '/echo/.well-known/agent-card.json', bodyBytes: 10 * 1024 * 1024 }],
  });
  expect((await get(`${url}/`)).status).toBe(401);
  expect((await get(`${url}/echo/tasks`, { 'a2a-version': '1.0' })).status).toBe(401);
});

it('an agent at the path of the console is an error', () => {
  const agents = { '/console': { agent: () => 'x' } };
  expect(() => createA2AHost({ agents, console: true })).toThrow('console: needs the path /console');
});
