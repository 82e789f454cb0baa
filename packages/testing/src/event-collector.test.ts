import type { StreamResponse, TaskState } from 'parley-a2a';
import { describe, expect, it } from 'vitest';
import { EventCollector, TestClock } from './index.js';

const ids = { taskId: 't', contextId: 'c' };
const status = (state: TaskState): StreamResponse => ({ statusUpdate: { ...ids, status: { state } } });
const text = (value: string): StreamResponse => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: value }] } },
});

async function* stream(events: readonly StreamResponse[], end?: Promise<unknown>): AsyncGenerator<StreamResponse> {
  yield* events;
  await end;
}

describe('a collector of events', () => {
  it('has them by type, with their states and their text', async () => {
    const events = [status('TASK_STATE_WORKING'), text('a'), text('b'), status('TASK_STATE_COMPLETED')];
    const collector = new EventCollector(stream(events));
    expect(await collector.waitForEnd()).toEqual(events);
    expect(collector.statusUpdates).toHaveLength(2);
    expect(collector.byType('artifactUpdate')).toEqual([text('a'), text('b')]);
    expect(collector.byType('task')).toEqual([]);
    expect(collector.states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(collector.text).toBe('ab');
  });

  it('takes events as a callback', async () => {
    const collector = new EventCollector();
    const final = collector.waitForFinal();
    const events = [status('TASK_STATE_WORKING'), text('a'), status('TASK_STATE_COMPLETED')];
    events.forEach(collector.take);
    expect(await final).toEqual(status('TASK_STATE_COMPLETED'));
    const end = collector.waitForEnd();
    collector.end();
    expect(await end).toEqual(events);
    expect(() => collector.take(text('b'))).toThrow('has ended');
    const failed = new EventCollector();
    const waiting = failed.waitForFinal();
    failed.end(new Error('broken'));
    await expect(waiting).rejects.toThrow('broken');
  });

  it.each(['TASK_STATE_COMPLETED', 'TASK_STATE_INPUT_REQUIRED'] as const)('waits for %s', async (state) => {
    const collector = new EventCollector(stream([status('TASK_STATE_WORKING'), status(state)], new Promise(() => {})));
    expect(await collector.waitForFinal()).toEqual(status(state));
    expect(await collector.waitForState('TASK_STATE_WORKING')).toEqual(status('TASK_STATE_WORKING'));
    expect(collector.hasEnded).toBe(false);
  });

  it('says what came instead of the final event when the stream ends', async () => {
    const collector = new EventCollector(stream([status('TASK_STATE_WORKING')]));
    await expect(collector.waitForFinal()).rejects.toThrow(
      /the final event \(the stream has ended; 1 events came, the last was statusUpdate TASK_STATE_WORKING\)/,
    );
  });

  it('ends each wait by its clock', async () => {
    const clock = new TestClock();
    const collector = new EventCollector(stream([], new Promise(() => {})), { clock });
    const final = expect(collector.waitForFinal({ timeoutMs: 100 })).rejects.toThrow(/the time is over; no event came/);
    const end = expect(collector.waitForEnd({ timeoutMs: 100 })).rejects.toThrow(/the end of the stream/);
    await clock.advance(100);
    await Promise.all([final, end]);
  });

  it('gives the error of the stream to each wait', async () => {
    const error = new Error('the connection is lost');
    const collector = new EventCollector(stream([], Promise.reject(error)));
    await expect(collector.waitForFinal()).rejects.toBe(error);
    await expect(collector.waitForEnd()).rejects.toBe(error);
    expect(collector.error).toBe(error);
  });
});
