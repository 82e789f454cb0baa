import { describe, expect, it } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { result, StubAgent, type StubAnswer, task } from './stub-agent.js';

const POLL = { pollMs: 1, longestPollMs: 2 };

describe('waiting for a task', () => {
  it.each([{ streaming: true }, { streaming: false }])('of a real agent: $streaming streams', async ({ streaming }) => {
    let release = (): void => {};
    const server = createA2AServer({
      streaming,
      agent: {
        async execute(context, events) {
          await events.working();
          if (context.text === 'ask') return events.inputRequired('Well?');
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          await events.artifact('all of it');
          await events.complete();
        },
      },
    });
    const { url } = await server.listen(0);
    try {
      const client = await connect(url);
      const begun = await client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
      const id = begun.task !== undefined ? begun.task.id : '';
      const waited = client.waitFor(id, POLL);
      while ((await client.getTask(id)).status.state !== 'TASK_STATE_WORKING');
      release();
      expect(await waited).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ text: 'all of it' }] }],
      });
      // One that has ended is not waited for.
      expect(await client.waitFor(id)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
      const asked = await client.ask('ask');
      expect(asked).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    } finally {
      await server.close({ graceMs: 0 });
    }
  });

  const looks = (...answers: StubAnswer[]) => StubAgent.start(() => answers.shift() ?? { status: 500 });
  const noStreams = { capabilities: {} };

  it('by looking goes on through passing failures, and not through others', async () => {
    await using stub = await looks(
      result(task('TASK_STATE_WORKING')),
      { status: 502 },
      { status: 429 },
      result(task('TASK_STATE_AUTH_REQUIRED')),
    );
    const client = await connect(stub.card(noStreams));
    expect(await client.waitFor('t1', POLL)).toEqual(task('TASK_STATE_AUTH_REQUIRED'));
    await using other = await looks({ body: { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'gone' } } });
    await expect((await connect(other.card(noStreams))).waitFor('t1', POLL)).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    });
  });

  it('may go on beyond a question, until the end', async () => {
    await using stub = await looks(result(task('TASK_STATE_INPUT_REQUIRED')), result(task('TASK_STATE_FAILED')));
    const client = await connect(stub.card(noStreams));
    expect(await client.waitFor('t1', { ...POLL, until: 'end' })).toEqual(task('TASK_STATE_FAILED'));
  });

  it('may go on beyond a request for authorization, until the next question', async () => {
    const states = ['AUTH_REQUIRED', 'WORKING', 'INPUT_REQUIRED', 'COMPLETED'] as const;
    await using stub = await looks(...states.map((state) => result(task(`TASK_STATE_${state}`))));
    const client = await connect(stub.card(noStreams));
    expect(await client.waitFor('t1', { ...POLL, until: 'input' })).toEqual(task('TASK_STATE_INPUT_REQUIRED'));
    expect(await client.waitFor('t1', { ...POLL, until: 'input' })).toEqual(task('TASK_STATE_COMPLETED'));
  });

  it('has an end', async () => {
    await using stub = await StubAgent.start(() => result(task('TASK_STATE_WORKING')));
    const client = await connect(stub.card(noStreams));
    await expect(client.waitFor('t1', { ...POLL, timeoutMs: 30 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(client.waitFor('t1', { ...POLL, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
  });
});

describe('sending and waiting', () => {
  it('gives the message where the agent answers with one', async () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] };
    await using stub = await StubAgent.start(() => result({ message }));
    for (const capabilities of [{}, { streaming: true }]) {
      expect(await (await connect(stub.card({ capabilities }))).ask('hi')).toEqual({ message, text: 'hi' });
    }
  });

  it('waits on where the agent answered too early', async () => {
    const answers = [result({ task: task('TASK_STATE_WORKING') }), result(task('TASK_STATE_WORKING')), result(task())];
    await using stub = await StubAgent.start(() => answers.shift() ?? { status: 500 });
    const client = await connect(stub.card({ capabilities: {} }));
    expect(await client.ask('hi', POLL)).toEqual({ task: task(), text: '' });
  });

  it.each(['INPUT_REQUIRED', 'AUTH_REQUIRED'] as const)(
    'ends at %s of an agent that keeps its stream open',
    async (state) => {
      const asking = task(`TASK_STATE_${state}`);
      await using stub = await StubAgent.start(({ json }) => {
        if (json?.method === 'GetTask') return result(asking);
        return (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: json?.id, result: { task: asking } })}\n\n`);
        };
      });
      const client = await connect(stub.card());
      expect(await client.ask('hi', { timeoutMs: 5_000 })).toEqual({ task: asking, text: '' });
    },
  );

  it('survives a connection that ends before the read of the task, as its stream does', async () => {
    let isLost = false;
    await using stub = await StubAgent.start(({ json, url }) => {
      if (url.includes('agent-card')) return { body: stub.card() };
      const method: string | undefined = json?.method;
      if (method === 'SendStreamingMessage') {
        const event = { jsonrpc: '2.0', id: json?.id, result: { task: task() } };
        return { headers: { 'content-type': 'text/event-stream' }, body: `data: ${JSON.stringify(event)}\n\n` };
      }
      if (isLost) return { body: { jsonrpc: '2.0', id: json?.id, result: task() } };
      isLost = true;
      return (_, socket) => socket.destroy();
    });
    const client = await connect(stub.card({ capabilities: { streaming: true } }));
    expect(await client.ask('hi', POLL)).toEqual({ task: task(), text: '' });
    expect(isLost).toBe(true);
  });
});
