import { fileURLToPath } from 'node:url';
import { connect, textOf } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import { ToolError, ToolRegistry } from 'parley-a2a/tools';
import { type McpQuestionError, type McpTools, type McpToolsOptions, mcpTools } from 'parley-a2a-mcp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { freePort } from '../support/servers/free-port.js';
import { HttpTools } from './http-tools.js';

const SCRIPT = fileURLToPath(new URL('tools-server.mjs', import.meta.url));

const ofProcess = (options: Partial<McpToolsOptions> = {}) =>
  mcpTools({ name: 'desk', command: process.execPath, args: [SCRIPT], ...options });

/** Runs a tool by its name in the server. */
async function run(tools: McpTools, name: string, input: unknown = {}, signal?: AbortSignal): Promise<unknown> {
  return new ToolRegistry(tools.tools).execute(`desk_${name}`, input, signal && { signal });
}

const failure = (call: Promise<unknown>): Promise<ToolError> =>
  call.then(
    () => {
      throw new Error('It did not fail');
    },
    (error: ToolError) => error,
  );

it('tools of an MCP server need a name, and either a command or a url', async () => {
  const expectRefusal = (options: object) => expect(mcpTools(options as never)).rejects;
  await expectRefusal({ command: 'true' }).toThrow('mcpTools: name: is required');
  await expectRefusal({ name: 'desk' }).toThrow('mcpTools: needs either a command or a url');
  await expectRefusal({ name: 'desk', command: 'true', url: 'http://localhost' }).toThrow('either a command or a url');
});

describe.each(['stdio', 'streamable HTTP'])('tools of an MCP server over %s', (way) => {
  let http: HttpTools;
  let tools: McpTools;
  const logger = new CapturingLogger();
  const open = (options: Partial<McpToolsOptions> & { readonly logger?: CapturingLogger } = {}) =>
    way === 'stdio' ? ofProcess(options) : mcpTools({ name: 'desk', url: http.url, ...options });
  beforeAll(async () => {
    http = await HttpTools.start();
    tools = await open({ logger });
  });
  afterAll(async () => {
    await tools.close();
    await http[Symbol.asyncDispose]();
  });

  it('have prefixed names, plain descriptions and schemas; wrong ones are left out', () => {
    const names = tools.tools.map(({ name }) => name);
    expect(names).toContain('desk_add');
    const wrong = ['two words', 'untyped', 'schemaless', 'misspelt', 'unlisted', 'odd', '7', 'huge'];
    expect(names.filter((name) => wrong.includes(name.replace('desk_', '')))).toEqual([]);
    expect(logger.lines).toContainEqual({
      level: 'warn',
      message: 'tools of an MCP server are left out',
      fields: { connection: 'desk', count: 10, names: wrong.toSpliced(6, 1, '', '', '').join(', ') },
    });
    const add = tools.tools.find(({ name }) => name === 'desk_add');
    expect(add?.description).toBe('Adds \\u001b[31mtwo numbers');
    expect(add?.inputSchema).toMatchObject({ properties: { a: { type: 'number' } } });
  });

  it('give structured content, text or blocks', async () => {
    expect(await run(tools, 'add', { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await run(tools, 'canceled')).toMatch(/^\d+$/);
    expect(await run(tools, 'picture')).toEqual([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]);
  });

  it('check arguments and results', async () => {
    expect((await failure(run(tools, 'add', { a: 'x', b: 2 }))).reason).toBe('invalid_input');
    expect((await failure(run(tools, 'lie'))).reason).toBe('invalid_output');
  });

  it('run no pattern of a stranger', async () => {
    expect(await run(tools, 'pattern', { word: `${'a'.repeat(50)}!` })).toBe('ran pattern');
  });

  it('fail with the text of the server', async () => {
    const error = await failure(run(tools, 'fail'));
    expect([error.reason, error.message]).toEqual(['threw', 'The disk is full']);
  });

  it('pass an abort on as a cancellation', async () => {
    const before = Number(await run(tools, 'canceled'));
    const stop = new AbortController();
    const call = failure(run(tools, 'hang', {}, stop.signal));
    // The server answers calls in order, so it has begun the call before.
    await run(tools, 'canceled');
    stop.abort();
    expect((await call).reason).toBe('aborted');
    await expect.poll(() => run(tools, 'canceled')).toBe(String(before + 1));
  });

  it('end at their timeout', async () => {
    await using quick = await open({ timeoutMs: 50 });
    expect((await failure(run(quick, 'hang'))).reason).toBe('timeout');
  });

  it('follow changes of the list', async () => {
    const changed = Promise.withResolvers<readonly string[]>();
    await using growing = await open({ onChange: (list) => changed.resolve(list.map(({ name }) => name)) });
    expect(await run(growing, 'grow')).toBe('grown');
    expect(await changed.promise).toContain('desk_grown');
    expect(await run(growing, 'grown')).toBe('ran grown');
  });

  it('follow the last of many changes, and read the list a few times only', async () => {
    const changed = Promise.withResolvers<void>();
    await using growing = await open({
      onChange: (list) => {
        if (list.some(({ name }) => name === 'desk_grown')) changed.resolve();
      },
    });
    const registry = new ToolRegistry([growing]);
    expect(await registry.execute('desk_flood', {})).toBe('flooded');
    await changed.promise;
    expect(await registry.execute('desk_grown', {})).toBe('ran grown');
    expect(Number(await run(growing, 'lists'))).toBeLessThan(6);
  });

  it('are those that the agent wants, and ask for an approval if it wants that', async () => {
    await using some = await open({ only: ['add', 'fail'], needsApproval: (name) => name === 'fail' });
    expect(some.tools.map(({ name, needsApproval }) => [name, needsApproval])).toEqual([
      ['desk_add', false],
      ['desk_fail', true],
    ]);
  });

  it('have no one to ask outside of a task', async () => {
    await using asking = await open();
    const error = await failure(run(asking, 'ask'));
    expect([error.name, error.reason, error.message]).toEqual(['McpQuestionError', 'refused', 'Which city?']);
  });

  it('ask by INPUT_REQUIRED of the task', async () => {
    const cities = new Map<string, string>();
    await using asking = await open({
      elicit: (question, { callId }) => {
        expect(question).toMatchObject({ message: 'Which city?', schema: { required: ['city'] } });
        const city = cities.get(callId);
        return city === undefined ? undefined : { city };
      },
    });
    const registry = new ToolRegistry(asking.tools);
    const server = createA2AServer({
      agent: {
        execute: async ({ taskId, task, text, signal }, events) => {
          if (task?.status.state === 'TASK_STATE_INPUT_REQUIRED') cities.set(taskId, text);
          try {
            await events.artifact(String(await registry.execute('desk_ask', {}, { callId: taskId, signal })));
            await events.complete();
          } catch (error) {
            if ((error as McpQuestionError).name !== 'McpQuestionError') throw error;
            await events.inputRequired((error as McpQuestionError).message);
          }
        },
      },
    });
    const client = await connect(server);
    const asked = await client.ask('weather');
    if (asked.task === undefined) throw new Error('There is no task');
    expect([asked.task.status.state, textOf(asked.task)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'Which city?']);
    const answered = await client.ask({ message: { taskId: asked.task.id, parts: [{ text: 'Paris' }] } });
    if (answered.task === undefined) throw new Error('There is no task');
    expect(textOf(answered.task)).toBe('It rains in Paris');
    await server.close();
  });
});

describe('tools of an MCP server', () => {
  it('do not inherit the environment', async () => {
    process.env.PLANTED_SECRET = 'x';
    await using tools = await mcpTools({
      name: 'desk',
      command: process.execPath,
      args: [SCRIPT],
      env: { GIVEN: '1' },
    });
    delete process.env.PLANTED_SECRET;
    const names = String(await run(tools, 'variables')).split(',');
    expect(names).toContain('GIVEN');
    expect(names).not.toContain('PLANTED_SECRET');
  });

  it('start the server again after it has died', async () => {
    await using tools = await ofProcess();
    const error = await failure(run(tools, 'die'));
    expect([error.reason, error.message]).toEqual(['interrupted', 'The MCP server of desk_die ended during the call.']);
    expect(await run(tools, 'add', { a: 2, b: 2 })).toEqual({ sum: 4 });
  });

  it('begin a new session after a restart of the server', async () => {
    await using http = await HttpTools.start();
    await using tools = await mcpTools({ name: 'desk', url: http.url });
    http.forget();
    expect(await run(tools, 'add', { a: 2, b: 2 })).toEqual({ sum: 4 });
  });

  it('tell that a server does not start, without its path', async () => {
    await expect(mcpTools({ name: 'desk', command: '/nonexistent/server' })).rejects.toThrow();
    await expect(mcpTools({ name: 'no name', command: 'x' })).rejects.toThrow('name: must be');
  });

  it('call with the given fetch and headers', async () => {
    await using http = await HttpTools.start();
    const seen: string[] = [];
    await using tools = await mcpTools({
      name: 'desk',
      url: http.url,
      headers: { 'x-key': 'secret' },
      fetch: (url, init) => {
        seen.push(`${new Headers(init?.headers).get('x-key')}`);
        return fetch(url, init);
      },
    });
    expect(tools.tools.length).toBeGreaterThan(0);
    expect(new Set(seen)).toEqual(new Set(['secret']));
  });

  it('are not called at private addresses if the url comes from others', async () => {
    await using http = await HttpTools.start();
    await expect(mcpTools({ name: 'desk', url: http.url, isForeign: true })).rejects.toThrow(/address|private|public/);
  });

  it('give no more calls after close', async () => {
    const tools = await ofProcess();
    await tools.close();
    expect(await failure(run(tools, 'fail'))).toBeInstanceOf(ToolError);
  });
});

describe('an MCP server that is down', () => {
  it('leaves an agent without its tools until it is up, and says so', async () => {
    const place = await freePort();
    const logger = new CapturingLogger();
    const changes: number[] = [];
    await using tools = await mcpTools({
      name: 'desk',
      url: `http://127.0.0.1:${place}/`,
      logger,
      onChange: ({ length }) => changes.push(length),
    });
    expect(tools.tools).toEqual([]);
    const registry = new ToolRegistry([tools]);
    const [line] = logger.lines;
    expect(line).toMatchObject({
      level: 'warn',
      message: 'an MCP server cannot be reached: its tools are missing until it can be',
      fields: { connection: 'desk', reason: 'ECONNREFUSED' },
    });
    await using _ = await HttpTools.start(place);
    await vi.waitFor(() => expect(tools.tools).not.toEqual([]), { timeout: 10_000, interval: 50 });
    expect(changes).toEqual([tools.tools.length]);
    expect(await registry.execute('desk_add', { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(logger.lines.map(({ message }) => message)).toContain('the tools of an MCP server were read');
  });

  it('is looked for with growing pauses, and no more after a close', async () => {
    const logger = new CapturingLogger();
    let calls = 0;
    const send = async () => {
      calls += 1;
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ENOTFOUND' }) });
    };
    const tools = await mcpTools({ name: 'desk', url: 'http://127.0.0.1:1/', logger, fetch: send });
    await vi.waitFor(() => expect(calls).toBeGreaterThan(2), { timeout: 10_000, interval: 20 });
    await tools.close();
    const before = calls;
    expect(before).toBeLessThan(5);
    await expect(tools.refresh()).rejects.toThrow('closed');
    expect(calls).toBe(before);
  });

  it.each([401, 403, 404])('that answers %i is a mistake of its author', async (status) => {
    const send = async () => new Response('no', { status });
    await expect(mcpTools({ name: 'desk', url: 'http://127.0.0.1:1/', fetch: send })).rejects.toThrow(
      `mcpTools: the MCP server of desk answered ${status}`,
    );
  });

  it.each([502, 503])('behind a proxy that answers %i is looked for', async (status) => {
    const send = async () => new Response('later', { status });
    await using tools = await mcpTools({ name: 'desk', url: 'http://127.0.0.1:1/', fetch: send });
    expect(tools.tools).toEqual([]);
  });
});
