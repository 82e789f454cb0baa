import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, type Frame, sendParams, Wire } from '../interop/wire.js';
import { testCalls } from './calls.js';
import { HostProcess } from './host-process.js';
import { HOSTS, type Launch } from './hosts.js';
import { BINDINGS, MountedAgent, stateOf } from './mounted-agent.js';
import { Nginx, ROUTES } from './nginx.js';
import { testOfficialClient } from './official-client.js';
import { testRefusals } from './refusals.js';
import { testStreams } from './streams.js';

let folder: string;
let launch: Launch;
let upstream: HostProcess;
let nginx: Nginx;
const stage = {} as { url: string; open: MountedAgent; guarded: MountedAgent };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-proxied-'));
  launch = {
    command: [...HOSTS.node.command.slice(0, 1), String(HOSTS.node.command[1]).replace('node.mjs', 'behind-proxy.mjs')],
    env: { DATABASE_URL: `sqlite:${join(folder, 'tasks.db')}` },
  };
  upstream = await HostProcess.start(launch);
  nginx = await Nginx.start(upstream.url);
  stage.url = nginx.url;
  stage.open = await through(ROUTES.stripping);
  stage.guarded = await MountedAgent.at(`${nginx.url}${ROUTES.stripping}/agents/guarded`);
});
afterAll(async () => {
  await nginx[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const through = (route: string) => MountedAgent.at(`${nginx.url}${route}/agents/open`);

/** An agent whose card is not asked for. */
function below(route: string): MountedAgent {
  const url = `${nginx.url}${route}/agents/open`;
  return new MountedAgent(url, { supportedInterfaces: BINDINGS.map((protocolBinding) => ({ protocolBinding, url })) });
}

describe('behind nginx, below a prefix that it takes off', () => {
  testCalls(stage, HOSTS.node);
  testStreams(stage);
  testRefusals(stage);
  testOfficialClient(stage);
});

describe('cards behind nginx', () => {
  it.each([
    ['paths are handed on', ROUTES.plain],
    ['the prefix is taken off', ROUTES.stripping],
    ['the proxy speaks by the standard header', ROUTES.standard],
    ['nginx is as it comes', ROUTES.bare],
  ])('tell the address at the proxy where %s, and it works', async (_, route) => {
    const agent = await through(route);
    expect(agent.urlOf('JSONRPC')).toBe(`${nginx.url}${route}/agents/open`);
    expect(await agent.say('hello')).toBe('Echo: hello');
  });

  it('tell the address bound where the proxy is not trusted', async () => {
    const { card } = await through(ROUTES.untrusted);
    expect(card.supportedInterfaces).toMatchObject(Array(4).fill({ url: `${upstream.url}/agents/open` }));
  });

  it('tell nothing that a client has made up, through the proxy', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'ftp',
      'x-forwarded-prefix': '/evil',
      forwarded: 'host=evil.example',
    };
    for (const route of [ROUTES.stripping, ROUTES.standard, ROUTES.untrusted]) {
      const { text } = await new Wire(nginx.url).send(`${route}/agents/open/.well-known/agent-card.json`, { headers });
      expect(text).not.toMatch(/evil|ftp:/);
    }
  });
});

describe('streams behind nginx', () => {
  it.each(Object.values(ROUTES).filter((route) => route !== ROUTES.tooImpatient && route !== ROUTES.untrusted))(
    'are not held back below "%s"',
    async (route) => {
      const agent = (await through(route)).over('JSONRPC');
      const gate = randomUUID();
      const chunks: unknown[] = [];
      for await (const frame of agent.stream(sendParams(`chunks ${gate} 3`))) {
        const { artifactUpdate } = agent.event(frame);
        if (artifactUpdate === undefined) continue;
        chunks.push(artifactUpdate);
        await stage.open.say(`saw ${gate}-${chunks.length + 1}`);
      }
      expect(chunks).toHaveLength(3);
    },
  );

  it('outlast the time that nginx waits, by their heartbeats', async () => {
    const agent = (await through(ROUTES.impatient)).over('HTTP+JSON');
    const response = await fetch(`${agent.url}/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(sendParams('chunks never 2')),
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    let text = '';
    const decoder = new TextDecoder();
    const began = performance.now();
    // Longer than nginx waits for an upstream that says nothing.
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (performance.now() - began > 5_500 && text.includes(': keep-alive')) break;
    }
    expect(performance.now() - began).toBeGreaterThan(5_500);
    expect(text).toContain('chunk 1');
  });

  it('that nginx has cut go on where they were', async () => {
    const patient = stage.open.over('HTTP+JSON');
    const hasty = below(ROUTES.tooImpatient).over('HTTP+JSON');
    const gate = randomUUID();
    const started = await patient.send({
      ...sendParams(`chunks ${gate} 2`),
      configuration: { returnImmediately: true },
    });
    const { id } = started.task as { id: string };
    const seen: Frame[] = [];
    let cut: unknown;
    // nginx may give up before the first event already.
    while (seen.length === 0) {
      cut = undefined;
      try {
        for await (const frame of hasty.subscribe(id, '0')) seen.push(frame);
      } catch (error) {
        cut = error;
      }
    }
    expect(cut).toBeInstanceOf(Error);
    await stage.open.say(`saw ${gate}-2`);
    seen.push(...(await collect(patient.subscribe(id, seen.at(-1)?.id))));
    expect(seen.map((frame) => Number(frame.id))).toEqual(seen.map((_, index) => index + 1));
    expect(stateOf(patient.event(seen.at(-1)))).toBe('TASK_STATE_COMPLETED');
  });

  it('go on after a restart of the server, while which nginx answers 502', async () => {
    const agent = stage.open.over('HTTP+JSON');
    const { task } = await agent.send(sendParams('ask'));
    const { id } = task as { id: string };
    const frames = agent.subscribe(id, '1');
    const seen = [(await frames.next()).value as Frame, (await frames.next()).value as Frame];
    await upstream[Symbol.asyncDispose]();
    await expect(collect(frames)).rejects.toThrow();
    expect((await fetch(`${agent.url}/tasks/${id}`)).status).toBe(502);
    upstream = await HostProcess.start(launch, Number(new URL(upstream.url).port));
    const again = agent.subscribe(id, seen.at(-1)?.id);
    await agent.send(sendParams('task more', { taskId: id }));
    seen.push(...(await collect(again)));
    expect(seen.map((frame) => Number(frame.id))).toEqual(seen.map((_, index) => index + 2));
    expect(stateOf(agent.event(seen.at(-1)))).toBe('TASK_STATE_COMPLETED');
  });
});

describe('connections behind nginx', () => {
  it('to the server are used again', async () => {
    const countConnections = async () => Number(await stage.open.say('connections'));
    const before = await countConnections();
    for (let call = 0; call < 20; call++) expect(await stage.open.say('x')).toBe('Echo: x');
    expect((await countConnections()) - before).toBeLessThanOrEqual(2);
  });
});
