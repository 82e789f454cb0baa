import { describe, expect, it } from 'vitest';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { type Answer, reasonOf, sendParams, type WireRequest } from '../interop/wire.js';
import type { Host } from './hosts.js';
import type { MountedAgent } from './mounted-agent.js';
import type { Stage } from './test-host.js';

const oversized = sendParams('x'.repeat(40_000));

async function refusedAsTooLarge(answering: Promise<Answer>): Promise<void> {
  const answer = await answering;
  expect([answer.status, reasonOf(answer)]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
}

/** Every host refuses invalid requests in JSON, in the form of the binding. */
export function testRefusals(stage: Stage, { dropsRepeats = false }: Pick<Host, 'dropsRepeats'> = {}): void {
  describe('JSON-RPC refuses', () => {
    const refused: [string, WireRequest, number, string][] = [
      ['malformed JSON', { body: '{"jsonrpc":' }, 200, 'PARSE_ERROR'],
      ['what is no request', { body: '"text"' }, 200, 'INVALID_REQUEST'],
      ['an empty body', { body: '' }, 200, 'PARSE_ERROR'],
      ['an unknown method', { body: { jsonrpc: '2.0', id: 1, method: 'Odd' } }, 200, 'METHOD_NOT_FOUND'],
      [
        'another media type',
        { body: '{}', headers: { 'content-type': 'text/plain' } },
        200,
        'CONTENT_TYPE_NOT_SUPPORTED',
      ],
      ['a compressed body', { body: '{}', headers: { 'content-encoding': 'gzip' } }, 415, ''],
      ['a body in an unknown coding', { body: '{}', headers: { 'content-encoding': 'x-odd' } }, 415, ''],
      ['a form', { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 200, ''],
      ['an odd media type', { body: '{}', headers: { 'content-type': 'odd' } }, 200, ''],
    ];
    it.each(refused)('%s', async (_, request, status, reason) => {
      for (const { mount, ...agent } of agentsOf(stage)) {
        const answer = await agent.wire.send(agent.jsonRpc, {
          ...request,
          headers: { ...(mount && { authorization: 'Bearer secret' }), ...request.headers },
        });
        expect(answer.status).toBe(status);
        expect(answer.body).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
        expect(reasonOf(answer)).toBe(reason || 'CONTENT_TYPE_NOT_SUPPORTED');
      }
    });

    it('a body over the limit', async () => {
      const { wire } = stage.open;
      await refusedAsTooLarge(wire.rpc(stage.open.urlOf('JSONRPC'), 'SendMessage', oversized));
      expect(await stage.open.say('still there')).toBe('Echo: still there');
    });

    it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s', async (method) => {
      const { status, headers, body } = await stage.open.wire.send(stage.open.urlOf('JSONRPC'), { method });
      expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
      expect(body).toMatchObject({ error: { code: 405 } });
    });
  });

  describe('HTTP+JSON refuses', () => {
    const refused: [string, string, WireRequest, number, string][] = [
      ['malformed JSON', '/message:send', { body: '{"message":' }, 400, 'PARSE_ERROR'],
      ['a message without parts', '/message:send', { body: { message: {} } }, 400, 'INVALID_PARAMS'],
      ['an unknown task', '/tasks/unknown', {}, 404, 'TASK_NOT_FOUND'],
      ['an unknown route', '/odd', {}, 404, 'METHOD_NOT_FOUND'],
      ['another method', '/message:send', { method: 'GET' }, 405, 'METHOD_NOT_ALLOWED'],
      ['an unknown version', '/tasks', { headers: { 'a2a-version': '9.9' } }, 400, 'VERSION_NOT_SUPPORTED'],
      [
        'another media type',
        '/message:send',
        { body: '{}', headers: { 'content-type': 'text/plain' } },
        400,
        'CONTENT_TYPE_NOT_SUPPORTED',
      ],
    ];
    it.each(refused)('%s', async (_, path, request, status, reason) => {
      const answer = await stage.open.wire.send(stage.open.urlOf('HTTP+JSON') + path, request);
      expect([answer.status, reasonOf(answer)]).toEqual([status, reason]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/(a2a\+)?json$/);
    });

    it('a body over the limit, announced or in pieces', async () => {
      const url = `${stage.open.urlOf('HTTP+JSON')}/message:send`;
      await refusedAsTooLarge(stage.open.wire.send(url, { body: oversized }));
      const { port, pathname } = new URL(url);
      const head = `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\na2a-version: 1.0\r\ncontent-type: application/json`;
      const body = JSON.stringify(oversized);
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const request = `${head}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${chunks}`;
      using connection = await RawConnection.open(Number(port), request);
      expect(await connection.until(/PAYLOAD_TOO_LARGE/)).toMatch(/^HTTP\/1\.1 413 /);
    });
  });

  describe('a credential that comes twice is refused', () => {
    const statusOf = (name: string, ...values: readonly string[]) =>
      statusWith(
        stage.guarded,
        values.map((value) => `${name}: ${value}`),
      );

    it('in Authorization, unless the host drops the second line', async () => {
      const right = 'Bearer secret';
      const wrong = 'Bearer other';
      expect(await statusOf('Authorization', right)).toBe(200);
      // A proxy may refuse them itself.
      const refused = [400, 401];
      const answers = dropsRepeats ? [200] : refused;
      expect(answers).toContain(await statusOf('Authorization', right, right));
      expect(answers).toContain(await statusOf('Authorization', right, wrong));
      expect(refused).toContain(await statusOf('Authorization', wrong, right));
    });

    it('in the header of a key', async () => {
      expect(await statusOf('X-API-Key', 'secret-key')).toBe(200);
      expect(await statusOf('X-API-Key', 'secret-key', 'secret-key')).toBe(401);
      expect(await statusOf('X-API-Key', 'secret-key', 'other-key')).toBe(401);
      expect(await statusOf('X-API-Key', 'other-key', 'secret-key')).toBe(401);
    });
  });

  it('what is nowhere below a mount is not found, in JSON', async () => {
    const { status, body } = await stage.open.wire.send(`${stage.open.mount}/.well-known/odd`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: 404 } });
  });
}

function agentsOf({ open, guarded }: Stage) {
  return [open, guarded].map((agent) => ({
    wire: agent.wire,
    jsonRpc: agent.urlOf('JSONRPC'),
    mount: agent === guarded,
  }));
}

/** The status of a list of tasks whose request has these lines of headers too. */
async function statusWith(agent: MountedAgent, lines: readonly string[]): Promise<number> {
  const { host, port, pathname } = new URL(agent.urlOf('HTTP+JSON'));
  const head = `GET ${pathname}/tasks HTTP/1.1\r\nhost: ${host}\r\na2a-version: 1.0`;
  using connection = await RawConnection.open(Number(port), [head, ...lines, 'connection: close\r\n\r\n'].join('\r\n'));
  return Number((await connection.until(/^HTTP\/1\.1 \d{3} /)).slice(9, 12));
}
