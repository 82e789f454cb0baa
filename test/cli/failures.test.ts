import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmptyFolder, parley } from './parley.js';
import { type Answer, RecordingAgent, result } from './recording-agent.js';

const folder = new EmptyFolder();
afterAll(() => folder[Symbol.dispose]());

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

const errorAnswer = (code: number, reason: string, message = 'no'): Answer => {
  const data = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }];
  return () => ({ body: { jsonrpc: '2.0', id: 1, error: { code, message, data } } });
};

describe('EXIT_001, OUT_004: failures', () => {
  it.each([
    ['TaskNotFoundError', -32001, 'TASK_NOT_FOUND', 1],
    ['TaskNotCancelableError', -32002, 'TASK_NOT_CANCELABLE', 1],
    ['UnsupportedOperationError', -32004, 'UNSUPPORTED_OPERATION', 1],
    ['ContentTypeNotSupportedError', -32005, 'CONTENT_TYPE_NOT_SUPPORTED', 1],
    ['InvalidParamsError', -32602, 'INVALID_PARAMS', 1],
  ])('%s of the agent keeps its name', async (code, number, reason, exit) => {
    await using agent = await RecordingAgent.start({ answer: errorAnswer(number, reason, 'as the agent says') });
    const { code: ended, stdout } = await parley(['send', '-a', agent.url, 'x', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({
      error: { code, message: 'as the agent says', hint: expect.any(String), a2aCode: String(number) },
    });
    expect(ended).toBe(exit);
  });

  it('INTERACT_002: a refused task id is a protocol error with a hint at --debug, and creates no task', async () => {
    await using agent = await RecordingAgent.start({ answer: errorAnswer(-32001, 'TASK_NOT_FOUND') });
    const { code, stderr } = await parley(['send', '-a', agent.url, '--task-id', 'gone', 'x']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/TaskNotFoundError.*\n.*--debug/);
    expect(agent.calls).toHaveLength(1);
  });

  it('VER_002: the hint names a required extension, and --extension declares it', async () => {
    const uri = 'https://example.com/ext/v1';
    const card = { capabilities: { extensions: [{ uri, required: true }] } };
    const refuses = errorAnswer(-32008, 'EXTENSION_SUPPORT_REQUIRED');
    const message = { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'heard' }] };
    const answer: Answer = (request) =>
      request.headers['a2a-extensions'] === uri ? result({ message }) : refuses(request);
    await using agent = await RecordingAgent.start({ card, answer });
    const { code, stderr } = await parley(['send', '-a', agent.url, 'x']);
    expect(stderr).toMatch(/ExtensionSupportRequiredError.*\nhint: .*--extension https:\/\/example\.com\/ext\/v1/);
    expect(code).toBe(1);
    expect((await parley(['send', '-a', agent.url, 'x', '--extension', uri])).code).toBe(0);
  });

  it('an unreachable host and a missing card exit with 3', async () => {
    const nobody = await parley(['card', 'get', 'http://127.0.0.1:9', '-o', 'json']);
    expect(nobody.code).toBe(3);
    expect(JSON.parse(nobody.stdout).error).toMatchObject({ code: 'A2ACLI_ERR_UNREACHABLE' });
    await using agent = await RecordingAgent.start({ answer: () => ({ status: 404, body: {} }) });
    const cardless = await parley(['card', 'get', `${agent.url}/elsewhere/card.json`, '-o', 'json']);
    expect(JSON.parse(cardless.stdout).error).toMatchObject({ code: 'A2ACLI_ERR_CARD_NOT_FOUND' });
    expect(cardless.code).toBe(3);
    expect((await parley(['card', 'get', join(folder.path, 'gone.json')])).code).toBe(3);
  });

  it('a document that is no card is A2ACLI_ERR_CARD_INVALID', async () => {
    const { code, stderr } = await parley(['card', 'get', file('none.json', '["no card"]')]);
    expect(stderr).toMatch(/A2ACLI_ERR_CARD_INVALID/);
    expect(code).toBe(1);
  });

  it('--timeout exits with 5', async () => {
    const task = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
    await using agent = await RecordingAgent.start({
      answer: ({ body }) => result(body.method === 'GetTask' ? task : { task }),
    });
    const sendFor = (limit: string) =>
      parley(['send', '-a', agent.url, 'x', '--timeout', limit, '--poll-interval', '100ms', '-o', 'json']);
    let { code, stdout } = await sendFor('700ms');
    // A machine that stands still uses up the time before there is a task to name.
    if (!stdout.includes('t-1')) ({ code, stdout } = await sendFor('7s'));
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'A2ACLI_ERR_TIMEOUT',
        message: expect.any(String),
        hint: `parley task get t-1 --wait --agent-card ${agent.url}`,
        a2aCode: null,
      },
    });
    expect(code).toBe(5);
  });

  it('OUT_007: --debug prints requests and responses', async () => {
    await using agent = await RecordingAgent.start();
    const { stderr, stdout } = await parley(['send', '-a', agent.url, 'x', '--debug']);
    expect(stderr).toMatch(/> #2 POST http/);
    expect(stderr).toMatch(/> \{"jsonrpc":"2\.0".*"SendMessage"/);
    expect(stderr).toMatch(/< #2 200 after \d+ ms/);
    expect(stderr).toMatch(/< #2 \{"jsonrpc".*heard/);
    expect(stdout).toContain('heard');
  });
});
