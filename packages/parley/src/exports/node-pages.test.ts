import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createA2AHost, createA2AServer, silentLogger } from './index.js';
import type { A2AHostOptions } from './node.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const url = 'https://agents.example';
const evil = `"><script>alert('1')</script>&<b>`;

function host(options: Partial<A2AHostOptions> = {}) {
  const agents = {
    '/': { name: 'Everything', agent: () => 'x', versions: ['1.0', '0.3', '0.2.5'] },
    '/echo': {
      name: 'Echo',
      streaming: false,
      versions: ['1.0'],
      agent: (prompt: string) => prompt,
      skills: [{ id: 'echo', name: 'Say again', description: 'Repeats', tags: [], examples: ["It's me"] }],
    },
    '/evil': { name: evil, description: evil, version: evil, agent: () => 'x' },
    '/old': { name: 'Old', agent: () => 'x', versions: ['0.3'] },
  } as A2AHostOptions['agents'];
  const server = createA2AHost({ agents, url, logger: silentLogger, ...options });
  const get = async (path: string, accept: string | undefined = BROWSER, method = 'GET') => {
    const answer = await server.fetch(new Request(url + path, { method, headers: accept ? { accept } : {} }));
    return { answer, text: await answer.text() };
  };
  return { get };
}

describe('a browser', () => {
  it.each(['/', '/echo', '/echo/', '/evil', '/old'])('gets a page at %s that loads and runs nothing', async (path) => {
    const { answer, text } = await host().get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('vary')).toContain('Accept');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; .*style-src 'sha256-[^']+'; img-src data:$/);
    expect(policy).not.toContain('unsafe');
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect(text).not.toMatch(/<script|\son\w+=|\sstyle=/i);
    expect(
      [...text.matchAll(/(?:src|href)="([^"]*)"/g)].every(([, to]) =>
        /^(?:data:image|https:\/\/agents\.example\/)/.test(to ?? ''),
      ),
    ).toBe(true);
  });

  it('sees the agents, the simplest first, with skills, cards and addresses', async () => {
    const { text } = await host().get('/');
    const names = ['Echo', 'Old', 'Everything'].map((name) => text.indexOf(`<h2>${name} `));
    expect(names).toEqual([...names].sort((a, b) => a - b));
    expect(names[0]).toBeGreaterThan(0);
    for (const part of [
      '<b>Say again</b> Repeats',
      'href="https://agents.example/echo/.well-known/agent-card.json"',
      '<code>https://agents.example/a2a/jsonrpc</code>',
    ]) {
      expect(text).toContain(part);
    }
    expect((await host().get('/echo')).text).not.toContain('Everything');
    expect((await host().get('/echo')).text).toContain('href="https://agents.example/"');
  });

  it('is led to the description where there is one', async () => {
    expect((await host().get('/')).text).not.toContain('/docs');
    expect((await host({ openapi: true }).get('/')).text).toContain('href="https://agents.example/docs"');
  });

  it('sees as text what an agent says of itself', async () => {
    const { text } = await host().get('/evil');
    expect(text).not.toContain(evil);
    expect(text).not.toContain('<b>');
    expect(text).toContain('&#34;&#62;&#60;script&#62;');
  });

  it('can copy a call that works as it stands', async () => {
    const server = createA2AServer({
      agent: (prompt) => `You said ${prompt}`,
      skills: [{ id: 's', name: 'S', description: 's', tags: [], examples: [`It's "me" $HOME`] }],
      logger: silentLogger,
    });
    const { url: base } = await server.listen(0);
    try {
      const text = await (await fetch(base, { headers: { accept: BROWSER } })).text();
      const code = /<pre tabindex="0"><code>([^<]*)<\/code>/.exec(text)?.[1] ?? '';
      const command = code.replace(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)));
      const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -s`]);
      expect(JSON.parse(stdout)).toMatchObject({
        task: { artifacts: [{ parts: [{ text: `You said It's "me" $HOME` }] }] },
      });
    } finally {
      await server.close();
    }
  });
});

describe('everybody else', () => {
  it.each([[undefined], ['application/json'], ['*/*'], ['application/json, text/html;q=0.9']])(
    'with %s gets what was there before',
    async (accept) => {
      const { get } = host();
      const listing = await get('/', accept ?? '');
      expect([listing.answer.status, listing.answer.headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(listing.answer.headers.get('vary')).toContain('Accept');
      const single = await get('/echo', accept ?? '');
      expect([single.answer.status, single.answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    },
  );

  it('a page has a head of its own, and other paths have none', async () => {
    const { get } = host();
    const head = await get('/', BROWSER, 'HEAD');
    expect([head.answer.status, head.answer.headers.get('content-type'), head.text]).toEqual([
      200,
      'text/html; charset=utf-8',
      '',
    ]);
    expect((await get('/echo/tasks', BROWSER)).answer.headers.get('content-type')).not.toContain('html');
  });
});
