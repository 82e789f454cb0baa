import { once } from 'node:events';
import { connect } from 'parley-a2a/client';
import { createA2AHost } from 'parley-a2a/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RunningParley } from '../cli/parley.js';
import { type Answers, overHttp, overStdio, SkilledAgent, type ToolClient } from './skill-world.js';

type Structured = { readonly taskId: string; readonly contextId: string; readonly state: string };

describe.each([
  ['stdio', overStdio],
  ['streamable HTTP', overHttp],
] as const)('parley mcp over %s, with the official client', (_, over) => {
  let agent: SkilledAgent;
  let tools: ToolClient;
  beforeAll(async () => {
    agent = await SkilledAgent.start();
    tools = await over(['--agent', agent.url]);
  });
  afterAll(async () => {
    await tools[Symbol.asyncDispose]();
    await agent[Symbol.asyncDispose]();
  });
  const withAnswers = (answers: Answers) => over(['--agent', agent.url], answers);

  it('lists each skill as a tool', async () => {
    expect(tools.client.getServerVersion()?.name).toBe('Skilled');
    const { tools: listed } = await tools.client.listTools();
    expect(listed.map(({ name, title }) => [name, title])).toEqual([
      ['talk', 'Talk'],
      ['count_stars', 'Count'],
    ]);
    expect(listed[0]?.description).toContain('Talks about anything');
    expect(Object.keys(listed[0]?.inputSchema.properties ?? {})).toEqual([
      'message',
      'contextId',
      'taskId',
      'data',
      'files',
    ]);
  });

  it('answers a call with text, structured content and ids', async () => {
    await tools.client.listTools();
    const result = await tools.call('hello', { data: { n: 1 } });
    expect(result.content).toEqual([{ type: 'text', text: 'You said: hello [{"data":{"n":1}}]' }]);
    expect(result.structuredContent).toMatchObject({
      text: 'You said: hello [{"data":{"n":1}}]',
      state: 'TASK_STATE_COMPLETED',
    });
    const { taskId, contextId } = result.structuredContent as Structured;
    expect(result._meta).toMatchObject({ 'parley-a2a/taskId': taskId, 'parley-a2a/contextId': contextId });
    expect(agent.lastMetadata).toEqual({ skillId: 'talk' });
    const next = await tools.call('more', { contextId });
    expect(next.structuredContent).toMatchObject({ contextId });
  });

  it('passes a direct message on', async () => {
    const { content, isError } = await tools.call('message');
    expect(content).toEqual([{ type: 'text', text: 'A direct answer' }]);
    expect(isError).toBeUndefined();
  });

  it('reports progress in order if the caller asks for that', async () => {
    const seen: { progress: number; message?: string | undefined }[] = [];
    await tools.call('steps', {}, { onprogress: (progress) => seen.push(progress) });
    const texts = seen.map(({ message }) => message);
    expect(texts.filter((text) => text?.startsWith('Step'))).toEqual(['Step one', 'Step two', 'Step three']);
    expect(texts).toContain('Counted');
    expect(seen.map(({ progress }) => progress)).toEqual(seen.map((__, index) => index + 1));
  });

  it('cancels the task of a call that the caller cancels', async () => {
    const stop = new AbortController();
    const canceled = once(agent.told, 'canceled');
    const call = tools.call('hold', {}, { signal: stop.signal, onprogress: () => stop.abort('enough') });
    await expect(call).rejects.toThrow();
    await canceled;
  });

  it('makes a failed and a rejected task an error that says why', async () => {
    const failed = await tools.call('fail');
    expect(failed).toMatchObject({ isError: true, structuredContent: { state: 'TASK_STATE_FAILED' } });
    expect(JSON.stringify(failed.content)).toContain('It broke');
    const rejected = await tools.call('reject');
    expect(rejected).toMatchObject({ isError: true, structuredContent: { state: 'TASK_STATE_REJECTED' } });
    expect(JSON.stringify(rejected.content)).toContain('Not that');
  });

  it('gives files as content and links, and links of the web only', async () => {
    const { content, structuredContent } = await tools.call('files');
    expect(content.map(({ type }) => type)).toEqual(['image', 'resource', 'resource_link', 'text', 'text']);
    expect(content[2]).toMatchObject({ uri: 'https://files.example/report.pdf', name: 'report.pdf' });
    expect(content[3]).toMatchObject({ text: 'trap: file:///etc/passwd' });
    expect(structuredContent).toMatchObject({ data: [{ stars: 7 }] });
  });

  it('cuts an answer that is too long', async () => {
    const { content } = await tools.call('long');
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    expect(text.length).toBeLessThan(1_100_000);
    expect(text).toContain('too large for this result');
  });

  it.each([
    [{}, 'message is missing'],
    [{ message: 7 }, 'message must be a text'],
    [{ message: 'a', other: 1 }, '"other" is not known'],
    [{ message: 'a', files: [{}] }, 'files[0] needs either bytes or url'],
    [{ message: 'a', files: [{ bytes: '?' }] }, 'files[0].bytes is no base64'],
    [{ message: 'a', taskId: 'nothing-like-it' }, 'TASK_NOT_FOUND'],
  ])('refuses the arguments %j and names the fault', async (args, fault) => {
    const result = await tools.client.callTool({ name: 'talk', arguments: args });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(JSON.stringify(fault).slice(1, -1));
  });

  it('knows no other tools', async () => {
    await expect(tools.client.callTool({ name: 'unknown', arguments: { message: 'a' } })).rejects.toThrow(
      'There is no tool unknown',
    );
  });

  it('runs two calls at once', async () => {
    const began = once(agent.told, 'turn');
    const held = tools.call('hold');
    await began;
    expect((await tools.call('quick')).structuredContent).toMatchObject({ text: 'You said: quick []' });
    agent.release();
    expect((await held).structuredContent).toMatchObject({ text: 'Released' });
  });

  it('asks the user by elicitation if the agent asks, again and again', async () => {
    await using asked = await withAnswers([
      { action: 'accept', content: { answer: 'again' } },
      { action: 'accept', content: { answer: 'Ada' } },
    ]);
    expect((await asked.call('ask')).structuredContent).toMatchObject({
      text: 'Hello, Ada',
      state: 'TASK_STATE_COMPLETED',
    });
  });

  it('says how to answer if the user does not, and takes the answer as a call', async () => {
    await using asked = await withAnswers([{ action: 'decline' }]);
    for (const one of [asked, tools]) {
      const result = await one.call('ask');
      const { taskId, state } = result.structuredContent as Structured;
      expect(state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(JSON.stringify(result.content)).toContain('What is your name?');
      expect(JSON.stringify(result.content)).toContain(taskId);
      expect((await one.call('Ada', { taskId })).structuredContent).toMatchObject({ taskId, text: 'Hello, Ada' });
      const waited = await one.client.callTool({ name: 'talk', arguments: { taskId } });
      expect(waited.structuredContent).toMatchObject({ taskId, state: 'TASK_STATE_COMPLETED' });
    }
  });
});

describe('parley mcp', () => {
  it('serves several agents, with their names before the skills', async () => {
    await using one = await SkilledAgent.start('First Agent');
    await using other = await SkilledAgent.start('Second');
    await using tools = await overStdio(['--agent', one.url, '--agent', other.url]);
    const { tools: listed } = await tools.client.listTools();
    expect(listed.map(({ name }) => name)).toEqual([
      'First_Agent_talk',
      'First_Agent_count_stars',
      'Second_talk',
      'Second_count_stars',
    ]);
    const { structuredContent } = await tools.client.callTool({ name: 'Second_talk', arguments: { message: 'hi' } });
    expect(structuredContent).toMatchObject({ text: 'You said: hi []' });
    expect([one.lastMetadata, other.lastMetadata]).toEqual([undefined, { skillId: 'talk' }]);
  });

  it('serves all agents of a host', async () => {
    const skill = { id: 'talk', name: 'Talk', description: 'Talks', tags: [] };
    const agent = (name: string) => ({ agent: () => `I am ${name}`, name, description: name, skills: [skill] });
    const host = createA2AHost({ agents: { '/one': agent('One'), '/two/b': agent('Two') } });
    onTestFinished(() => host.close());
    const { url } = await host.listen(0);
    const connected = await connect(`${new URL(url).origin}#two/b`);
    expect(connected.card.name).toBe('Two');
    await expect(connect(new URL(url).origin)).rejects.toMatchObject({ fault: 'ambiguous', choices: ['one', 'two/b'] });
    await using tools = await overStdio(['--agent', new URL(url).origin]);
    const { tools: listed } = await tools.client.listTools();
    expect(listed.map(({ name }) => name)).toEqual(['One_talk', 'Two_talk']);
    const { content } = await tools.client.callTool({ name: 'Two_talk', arguments: { message: 'hi' } });
    expect(content).toEqual([{ type: 'text', text: 'I am Two' }]);
  });

  it('sends credentials of flags to one agent only', async () => {
    await using running = new RunningParley([
      'mcp',
      '--agent',
      'localhost:1',
      '--agent',
      'localhost:2',
      '--bearer',
      't',
    ]);
    const { code, stdout, stderr } = await running.ended;
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--bearer goes to one agent only');
  });

  it('goes on after its agent is gone, and says so', async () => {
    const agent = await SkilledAgent.start();
    await using tools = await overStdio(['--agent', agent.url]);
    await tools.call('hello');
    await agent[Symbol.asyncDispose]();
    const result = await tools.call('hello');
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain('The agent Skilled cannot be reached');
    expect((await tools.client.listTools()).tools).toHaveLength(2);
  });

  it('writes nothing but the protocol to stdout, and ends when the client closes its end', async () => {
    await using agent = await SkilledAgent.start();
    const ping = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
    await using running = new RunningParley(['mcp', '--agent', agent.url], { input: `no JSON\n${ping}` });
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends in order on %s', async (signal) => {
    await using agent = await SkilledAgent.start();
    await using running = new RunningParley(['mcp', '--agent', agent.url, '--http', '0']);
    await running.waitForStderr(/^MCP: (\S+)$/m);
    expect((await running.stop(signal)).code).toBe(0);
  });

  it('refuses other hosts, pages of other origins, other paths and unknown sessions over HTTP', async () => {
    await using agent = await SkilledAgent.start();
    await using tools = await overHttp(['--agent', agent.url]);
    const post = (headers: Record<string, string>, url = tools.url) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' });
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await post({ 'mcp-session-id': 'unknown' })).status).toBe(404);
    expect((await post({}, new URL('/', tools.url).href)).status).toBe(404);
    expect((await post({})).status).toBeGreaterThanOrEqual(400);
    expect((await tools.call('still there')).isError).toBeUndefined();
  });

  it('leaves the task alone if the client goes away during a call', async () => {
    await using agent = await SkilledAgent.start();
    const tools = await overStdio(['--agent', agent.url]);
    const canceled: string[] = [];
    agent.told.on('canceled', () => canceled.push('canceled'));
    const began = once(agent.told, 'turn');
    const call = tools.call('hold').catch(() => 'closed');
    await began;
    await tools[Symbol.asyncDispose]();
    expect(await call).toBe('closed');
    agent.release();
    await using client = { ...(await connectedTo(agent.url)), [Symbol.asyncDispose]: async () => {} };
    const { tasks } = await client.list();
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED']);
    expect(canceled).toEqual([]);
  });
});

async function connectedTo(url: string) {
  const client = await connect(url);
  return {
    list: async () => {
      const { tasks } = await client.listTasks();
      for (const { id } of tasks) await client.waitFor(id, { until: 'end' });
      return client.listTasks();
    },
  };
}
