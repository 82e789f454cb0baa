import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, message, Seen, Sent, waitForAbort } from '../../test/engine.js';
import { KeyedPlaces } from '../runtime/keyed-places.js';
import type { DefaultRequestHandler } from './default-request-handler.js';

const until: Execute = async (context, events) => {
  await events.working();
  await waitForAbort(context);
  events.fail();
};

const ADA = { user: { id: 'ada' }, caller: 'ada' };
const BOB = { user: { id: 'bob' }, caller: 'bob' };

function createLimitedEngine(execute: Execute = until, replies: 'task' | 'either' = 'task') {
  const turnPlaces = new KeyedPlaces({ perKey: 2, total: 3 });
  const parts = engine({ execute, replies }, { turnPlaces });
  let sent = 0;
  const send = (handler: DefaultRequestHandler, caller: Parameters<typeof call>[0], over = {}) => {
    sent += 1;
    return new Sent(handler.sendMessage({ message: message({ messageId: `m${sent}`, ...over }) }, call(caller)));
  };
  return {
    ...parts,
    turnPlaces,
    send: (caller: Parameters<typeof call>[0], over = {}) => send(parts.handler, caller, over),
  };
}

describe.each(['task', 'either'] as const)('the running turns of a caller (replies: %s)', (replies) => {
  it('are limited, also for messages that arrive together', async () => {
    const { clock, send } = createLimitedEngine(until, replies);
    const all = [send(ADA), send(ADA), send(ADA), send(ADA)];
    await clock.settle();
    const refused = all.filter(({ error }) => error !== undefined);
    expect(refused).toHaveLength(2);
    for (const { error } of refused) {
      expect(error).toMatchObject({
        code: 'RESOURCE_EXHAUSTED',
        message: 'Too many turns: 2 of this caller run. Wait until one of them ends',
        details: { metadata: { limit: 'turns' }, retryAfterMs: 1_000 },
      });
    }
  });

  it('leave room for other callers, up to the limit of the server', async () => {
    const { clock, send } = createLimitedEngine(until, replies);
    send(ADA);
    send(ADA);
    const bob = send(BOB);
    await clock.settle();
    const anonymous = send({});
    await clock.settle();
    expect(bob.error).toBeUndefined();
    expect(anonymous.error).toMatchObject({ message: 'Too many turns: 3 run on this server. Try again later' });
  });

  it('end with their turns, however a turn ends', async () => {
    let endTurn: Execute = (_context, events) => void events.complete();
    const { clock, send, turnPlaces } = createLimitedEngine((context, events) => endTurn(context, events), replies);
    for (const next of [
      endTurn,
      () => {
        throw new Error('broken');
      },
      () => {},
      (_context, events) => void events.inputRequired('which one?'),
      (_context, events) => void events.message('direct'),
    ] satisfies Execute[]) {
      endTurn = next;
      send(ADA);
      send(ADA);
      await clock.settle();
      expect(turnPlaces).toMatchObject({ total: 0, keys: 0 });
    }
  });
});

describe('a caller with as many turns as allowed', () => {
  it('may repeat a message, and send one to a task that runs', async () => {
    const { clock, handler, send } = createLimitedEngine();
    const seen = new Seen(handler.sendStreamingMessage({ message: message({ messageId: 'first' }) }, call(ADA)));
    send(ADA);
    await clock.settle();
    const [first] = seen.items;
    const taskId = first !== undefined && first.event.task !== undefined ? first.event.task.id : '';
    const repeated = send(ADA, { messageId: 'first' });
    const waiting = send(ADA, { taskId });
    const another = send(ADA);
    await clock.settle();
    expect(repeated.error).toBeUndefined();
    expect(waiting.error).toBeUndefined();
    expect(another.error).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  it('takes the turn after a turn of its task with it', async () => {
    const { clock, handler, send, turnPlaces } = createLimitedEngine();
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call({ caller: '|address|192.0.2.1' })));
    await clock.settle();
    const [first] = seen.items;
    const taskId = first !== undefined && first.event.task !== undefined ? first.event.task.id : '';
    send({ caller: '|address|192.0.2.1' }, { taskId });
    await clock.settle();
    expect(turnPlaces).toMatchObject({ total: 1, keys: 1 });
    await handler.close();
    await clock.settle();
    expect(turnPlaces).toMatchObject({ total: 0, keys: 0 });
  });
});
