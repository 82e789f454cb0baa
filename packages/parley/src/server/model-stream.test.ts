import { beforeAll, describe, expect, it } from 'vitest';
import { call, engine, ids, message, Seen, send, short, textOf } from '../../test/engine.js';
import { agent } from './agent.js';
import type { ModelStream } from './model-stream.js';

// The first stream loads code on demand, which takes real time.
beforeAll(async () => void (await import('./model-stream.js')));

type StreamPart = { readonly type: string; readonly [member: string]: unknown };

const HELLO = { type: 'text-delta', id: '1', text: 'Hel' };

/** The result of `streamText` with these parts, as far as an agent reads it. */
function model(...parts: readonly StreamPart[]): ModelStream {
  const stream = async function* () {
    yield* parts;
  };
  return { fullStream: stream() };
}

async function runStream(answer: () => ModelStream | Promise<ModelStream>) {
  const { handler, clock, logger } = engine(agent(answer));
  const outcome = send(handler);
  await clock.settle();
  const { task } = outcome;
  return {
    state: short(task?.status.state ?? ''),
    text: textOf(task?.artifacts?.flatMap(({ parts }) => parts)),
    logged: logger.lines.map(({ fields }) => String(fields?.error)),
  };
}

describe('an agent whose answer is the result of streamText', () => {
  it('streams its text, and nothing else of it', async () => {
    const parts = [{ type: 'start' }, HELLO, { type: 'reasoning-delta', text: 'hm' }, { ...HELLO, text: 'lo' }];
    const finish = { type: 'finish', finishReason: 'stop' };
    expect(await runStream(() => model(...parts, { ...HELLO, text: '' }, finish))).toEqual({
      state: 'COMPLETED',
      text: 'Hello',
      logged: [],
    });
    expect(await runStream(async () => model(HELLO, finish))).toMatchObject({ state: 'COMPLETED', text: 'Hel' });
  });

  it.each<[string, StreamPart, string]>([
    ['the model fails', { type: 'error', error: new Error('no quota') }, 'Error: no quota'],
    ['the model fails with a text', { type: 'error', error: 'no quota' }, 'no quota'],
    [
      'its author aborts the model',
      { type: 'abort', reason: 'slow' },
      'Error: The call of the model was aborted: slow',
    ],
    ['the stream is that of another version', { type: 'text-delta', textDelta: 'lo' }, 'version 5 or later'],
  ])('fails where %s, and logs why', async (_, part, reason) => {
    const { state, text, logged } = await runStream(() => model(HELLO, part));
    expect([state, text]).toEqual(['FAILED', 'Hel']);
    expect(logged).toEqual([expect.stringContaining(reason)]);
  });

  it.each<[string, readonly StreamPart[]]>([
    ['without a finish', []],
    ['with a step that the AI SDK has ended', [{ type: 'finish-step', finishReason: 'other' }, { type: 'finish' }]],
    ['after a step that has ended', [{ type: 'finish-step', finishReason: 'tool-calls' }]],
  ])('fails where the stream ends %s', async (_, parts) => {
    expect(await runStream(() => model(HELLO, ...parts))).toEqual({
      state: 'FAILED',
      text: 'Hel',
      logged: ['Error: The stream of the model ended without a finish'],
    });
  });

  it('leaves a canceled task CANCELED, not COMPLETED with half an answer', async () => {
    const { handler, clock } = engine(
      agent((_, { signal }) => ({
        fullStream: (async function* () {
          yield HELLO;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          yield { type: 'abort' };
        })(),
      })),
    );
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.settle();
    const [id = ''] = await ids(handler);
    const canceled = handler.cancelTask({ id }, call());
    await clock.settle();
    expect((await canceled).status.state).toBe('TASK_STATE_CANCELED');
    expect(seen.shown.at(-1)).toBe('CANCELED');
  });
});
