import { expect, it } from 'vitest';
import { call, engine, message, Sent, send } from '../../test/engine.js';

const names = (count: number) => Array.from({ length: count }, (_, at) => `item-${at}`);

it.each<[string, (items: readonly string[]) => object]>([
  ['message.referenceTaskIds', (items) => ({ message: message({ referenceTaskIds: items }) })],
  ['message.extensions', (items) => ({ message: message({ extensions: items }) })],
  [
    'configuration.acceptedOutputModes',
    (items) => ({ message: message(), configuration: { acceptedOutputModes: items } }),
  ],
])('%s has 32 different items at most, repetitions not counted', async (field, request) => {
  const { handler, clock } = engine((_context, events) => events.complete());
  const sendReferences = (items: readonly string[]) => new Sent(handler.sendMessage(request(items) as never, call()));
  const [most, repeated, tooMany] = [names(32), names(32).concat(names(32)), names(33)].map(sendReferences);
  await clock.settle();
  expect(most?.error).toBeUndefined();
  expect(repeated?.error).toBeUndefined();
  expect(tooMany?.error).toMatchObject({
    code: 'INVALID_PARAMS',
    details: { violations: [{ field, description: 'must not have more than 32 different items' }] },
  });
});

it('an agent is given each referenced task once, and no more of them than fit', async () => {
  const given: (readonly string[])[] = [];
  const { handler, clock, storage, logger } = engine(
    async (context, events) => {
      if (context.text !== 'hi') return void (await events.complete('x'.repeat(10_000)));
      given.push((await context.referenceTasks()).map(({ id }) => id));
      await events.complete();
    },
    { limits: { referenceBytes: 25_000 } },
  );
  let reads = 0;
  const task = storage.task.bind(storage);
  const tasks = names(4).map((name) => send(handler, { messageId: name, parts: [{ text: 'large' }] }));
  await clock.settle();
  const ids = tasks.map((sent) => sent.task?.id ?? '');
  storage.task = (scope, id) => {
    reads += 1;
    return task(scope, id);
  };
  send(handler, { referenceTaskIds: [...ids.slice(0, 2), ...ids.slice(0, 2), 'unknown'] });
  await clock.settle();
  expect(given).toEqual([ids.slice(0, 2)]);
  expect(reads).toBe(3);
  send(handler, { messageId: 'all', referenceTaskIds: ids });
  await clock.settle();
  expect(given[1]).toEqual(ids.slice(0, 2));
  expect(reads).toBe(6);
  expect(logger.lines.at(-1)).toMatchObject({ level: 'warn', fields: { given: 2 } });
});
