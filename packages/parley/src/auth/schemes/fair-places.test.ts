import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairPlaces } from './fair-places.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('a group with many callers holds up another group for one place', async () => {
  const places = new FairPlaces({ running: 2, waiting: 64 });
  const begun: string[] = [];
  const ask = async (group: string) => {
    if (await places.take(group)) begun.push(group);
  };
  for (let at = 0; at < 60; at += 1) void ask('mallory');
  void ask('bob');
  void ask('carol');
  await settle();
  for (let at = 0; at < 3; at += 1) places.give();
  await settle();
  expect(begun).toEqual(['mallory', 'mallory', 'mallory', 'bob', 'carol']);
});

it('a caller of another group finds a place, although one group has filled them all', async () => {
  const places = new FairPlaces({ running: 1, waiting: 4 });
  const mallory = Array.from({ length: 20 }, () => places.take('mallory'));
  const bob = places.take('bob');
  for (let at = 0; at < 5; at += 1) places.give();
  expect(await bob).toBe(true);
  const granted = (await Promise.all(mallory)).filter(Boolean);
  expect(granted).toHaveLength(4);
});

it('every caller gets an answer, and places stay within their limits', async () => {
  const step = fc.constantFrom('a', 'a', 'a', 'b', 'c', 'end', 'end');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 100 }), async (steps) => {
      const places = new FairPlaces({ running: 2, waiting: 5 });
      const asked: Promise<boolean>[] = [];
      let running = 0;
      for (const act of steps) {
        if (act !== 'end') {
          const answer = places.take(act);
          asked.push(answer);
          void answer.then((granted) => {
            running += granted ? 1 : 0;
          });
        } else if (running > 0) {
          running -= 1;
          places.give();
        }
        await settle();
        expect(running).toBeLessThanOrEqual(2);
      }
      while (running > 0) {
        running -= 1;
        places.give();
        await settle();
      }
      await Promise.all(asked);
    }),
    { numRuns: 50 },
  );
});
