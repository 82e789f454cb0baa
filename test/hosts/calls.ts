import { describe, expect, it } from 'vitest';
import { reasonOf, sendParams } from '../interop/wire.js';
import type { Host } from './hosts.js';
import { BINDINGS, stateOf } from './mounted-agent.js';
import type { Stage } from './test-host.js';

/** Cards and plain calls. */
export function testCalls(stage: Stage, { interfaces }: Host): void {
  describe('cards', () => {
    it('tell addresses below the mount, whatever the Host header says', async () => {
      const below = interfaces === 'below the mount';
      for (const { mount, card } of [stage.open, stage.guarded]) {
        const [jsonRpc, httpJson] = below ? [`${mount}/a2a/jsonrpc`, `${mount}/a2a/rest`] : [mount, mount];
        expect(card.supportedInterfaces).toEqual(
          ['1.0', '0.3'].flatMap((protocolVersion) => [
            { url: jsonRpc, protocolBinding: 'JSONRPC', protocolVersion },
            { url: httpJson, protocolBinding: 'HTTP+JSON', protocolVersion },
          ]),
        );
        const forwarded = { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
        const again = await stage.open.wire.send(`${mount}/.well-known/agent-card.json`, { headers: forwarded });
        expect(again.body).toEqual(card);
      }
    });

    it('may be cached', async () => {
      const path = `${stage.open.mount}/.well-known/agent-card.json`;
      const { headers } = await stage.open.wire.send(path);
      expect(headers.get('cache-control')).toBe('public, max-age=3600');
      const etag = headers.get('etag') ?? '';
      expect((await stage.open.wire.send(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    });

    it('answer HEAD and OPTIONS without a body', async () => {
      const path = `${stage.open.mount}/.well-known/agent-card.json`;
      const head = await stage.open.wire.send(path, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-type'), head.text]).toEqual([200, 'application/json', '']);
      const options = await stage.open.wire.send(path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow'), options.text]).toEqual([204, 'GET, HEAD, OPTIONS', '']);
    });
  });

  describe.each(BINDINGS)('calls over %s', (binding) => {
    it('are answered with a message', async () => {
      const { message } = await stage.open.over(binding).send(sendParams('hällo ✓'));
      expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Echo: hällo ✓' }] });
    });

    it('are answered with a finished task, which can be read', async () => {
      const agent = stage.open.over(binding);
      const { task } = await agent.send(sendParams('task some text'));
      expect(task).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ text: 'some text' }] }],
      });
      const { id } = task as { id: string };
      expect(await agent.get(id)).toEqual(task);
    });

    it('take large bodies within the limit', async () => {
      const text = 'x'.repeat(30_000);
      const { message } = await stage.open.over(binding).send(sendParams(text));
      expect(message).toMatchObject({ parts: [{ text: `Echo: ${text}` }] });
    });

    it('cancel a task that runs', async () => {
      const agent = stage.open.over(binding);
      const begun = await agent.send({ ...sendParams('wait'), configuration: { returnImmediately: true } });
      const { id } = begun.task as { id: string };
      expect(stateOf(await agent.cancel(id))).toBe('TASK_STATE_CANCELED');
      expect(stateOf(await agent.get(id))).toBe('TASK_STATE_CANCELED');
    });

    it('go on with a task that waits for its caller', async () => {
      const agent = stage.open.over(binding);
      const { task } = await agent.send(sendParams('ask'));
      expect(stateOf({ task: task ?? null })).toBe('TASK_STATE_INPUT_REQUIRED');
      const { id } = task as { id: string };
      expect(stateOf(await agent.send(sendParams('task more', { taskId: id })))).toBe('TASK_STATE_COMPLETED');
    });

    it('list tasks page by page', async () => {
      const agent = stage.open.over(binding);
      const contextId = `list-${binding}`;
      for (const text of ['task 1', 'task 2', 'task 3']) await agent.send(sendParams(text, { contextId }));
      const first = await agent.list({ contextId, pageSize: '2' });
      expect(first).toMatchObject({ totalSize: 3, pageSize: 2 });
      const second = await agent.list({ contextId, pageSize: '2', pageToken: String(first.nextPageToken) });
      const pages = [first, second].map(({ tasks }) => (tasks as readonly object[]).length);
      expect(pages).toEqual([2, 1]);
    });

    it('show the extended card to those who say who they are', async () => {
      const agent = stage.guarded.over(binding);
      const refused = await agent.extendedCard();
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain('Bearer');
      expect(reasonOf(refused)).toBe('UNAUTHENTICATED');
      const { status, body } = await agent.extendedCard({ headers: { authorization: 'Bearer secret' } });
      const card = (body.result ?? body) as object;
      expect([status, card]).toMatchObject([200, { description: 'For those who are known' }]);
      expect(card).toMatchObject({ supportedInterfaces: stage.guarded.card.supportedInterfaces });
    });
  });
}
