import { readFileSync } from 'node:fs';
import { newWebSocketRpcSession } from 'capnweb';
import { A2AError, type ErrorCode } from 'parley-a2a';
import { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from 'parley-a2a-capnweb';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { DEFAULT_SESSION_LIMITS } from '../../packages/capnweb/src/binding/session-limits.js';
import { OPERATION_NAMES } from '../../packages/parley/src/operations/operations.js';
import { HELLO, message, type RemoteEntrance, refusal, servedAgent } from './session-world.js';

const page = readFileSync(new URL('../../docs/capnweb.md', import.meta.url), 'utf8');

/** The frames of a sample, with `→` for those of the client. */
function sample(name: string): readonly string[] {
  const [, block = ''] = new RegExp(`<!-- frames: ${name} -->\\n+\`\`\`text\\n(.*?)\`\`\``, 's').exec(page) ?? [];
  return block.trim().split('\n');
}

/** The frame without ids, texts and contents: its message, its expressions, and the names of top members. */
function shapeOf(frame: string): string {
  const value = JSON.parse(frame.slice(2)) as [string, ...unknown[]];
  const arrow = frame.slice(0, 1);
  return `${arrow} ${value.map((part) => JSON.stringify(shape(part))).join(' ')}`;
}

function shape(value: unknown): unknown {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return /^[a-z]+$/i.test(value) && value !== 'unknown' ? value : '…';
  if (Array.isArray(value)) return value.map(shape);
  return typeof value === 'object' && value !== null ? '{}' : value;
}

/** The frames of a session with the stock client. */
async function recordFrames(run: (entrance: RemoteEntrance) => Promise<void>): Promise<readonly string[]> {
  const { socketUrl } = await servedAgent();
  const socket = new WebSocket(socketUrl);
  onTestFinished(() => socket.terminate());
  const frames: string[] = [];
  socket.on('message', (data) =>
    frames.push(
      ...String(data)
        .split('\n')
        .map((frame) => `← ${frame}`),
    ),
  );
  const send = socket.send.bind(socket);
  socket.send = ((text: string) => {
    frames.push(`→ ${text}`);
    send(text);
  }) as typeof socket.send;
  await run(newWebSocketRpcSession(socket as unknown as globalThis.WebSocket) as unknown as RemoteEntrance);
  return frames;
}

describe('the definition of the binding, docs/capnweb.md (Spec §5.8, §12)', () => {
  it('shows the frames of a real session', async () => {
    const frames = await recordFrames(async (entrance) => {
      const agent = entrance.authenticate(HELLO);
      const sent = agent.sendMessage({ message: message('hi') });
      await agent.getTask({ id: sent.task.id });
      await refusal(agent.getTask({ id: 'unknown' }));
      using feed = await agent.sendStreamingMessage({ message: message('hi') });
      for await (const _ of feed.events);
      feed.subscription[Symbol.dispose]();
    });
    const shapes = new Set(frames.map(shapeOf));
    for (const name of ['calls', 'error', 'feed']) {
      const shown = sample(name);
      expect(shown.length).toBeGreaterThan(3);
      for (const frame of shown) expect([...shapes], frame).toContain(shapeOf(frame));
    }
  });

  it('shows a batch that a server answers', async () => {
    const { url, agent } = await servedAgent();
    const { task } = await agent().sendMessage({ message: message('hi') });
    const [, type = ''] = /^Content-Type: (.*)$/m.exec(sample('batch').join('\n')) ?? [];
    const body = sample('batch')
      .filter((line) => line.startsWith('['))
      .join('\n')
      .replace('…', task.id);
    const response = await fetch(`${url}/a2a/capnweb`, { method: 'POST', headers: { 'content-type': type }, body });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(`["resolve",2,{"id":"${task.id}"`);
  });

  it('names all operations, all errors of the specification and both URIs', () => {
    for (const name of OPERATION_NAMES) expect(page).toMatch(new RegExp(`^  ${name}\\(`, 'm'));
    const reasons = Array.from(page.matchAll(/^\| \w+Error \| `([A-Z_]+)` \|$/gm), ([, reason]) => reason ?? '');
    expect(reasons).toHaveLength(9);
    for (const reason of reasons) expect(new A2AError(reason as ErrorCode, '').code).toBe(reason);
    for (const uri of [CAPNWEB_BINDING, CAPNWEB_BATCH_BINDING]) expect(page).toContain(uri);
  });

  it('gives the limits of a server', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| '));
    for (const name of ['unreleasedCalls', 'capabilities', 'feeds', 'callbacks', 'runningCalls'] as const) {
      const row = rows.find((line) => line.includes(`\`${name}\``)) ?? '';
      expect(row, name).toContain(DEFAULT_SESSION_LIMITS[name].toLocaleString('en'));
    }
    expect(page).toContain(String(DEFAULT_SESSION_LIMITS.batchFrames));
  });
});
