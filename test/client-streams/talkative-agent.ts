import { setImmediate } from 'node:timers/promises';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { Random } from '../../packages/parley/test/random.js';

const WORDS = ['plain ', 'žluťoučký ', '日本語', '🎉🎉', '👩‍👩‍👧 ', '\u2028', 'ﷺ', 'id: 7\n\ndata: {}\n\n', '"\\', 'é'];

/**
 * Publishes many events that follow from the seed in its prompt: statuses, and artifacts that grow in parallel, in
 * characters of one to four bytes. With a seed divisible by three it asks a question, and goes on after the answer.
 */
export const talkativeAgent: AgentExecutor = {
  async execute(context, events) {
    const seed = Number(/\d+/.exec(context.text)?.[0]);
    const random = new Random(seed);
    const isAnswer = context.text.startsWith('answer');
    const ids: string[] = [];
    const steps = 3 + random.below(12);
    await events.working();
    for (let step = 0; step < steps; step++) {
      const text = Array.from({ length: 1 + random.below(30) }, () => random.pick(WORDS)).join('');
      const known = ids[random.below(3)];
      if (random.oneIn(5)) await events.working(text);
      else if (known === undefined) ids.push(await events.artifact(text));
      else if (random.oneIn(6)) await events.artifact(text, { artifactId: known });
      else await events.append(known, text);
      for (let turns = random.below(4); turns > 0; turns--) await setImmediate();
    }
    if (seed % 3 === 0 && !isAnswer) await events.inputRequired('And then?');
    else if (random.oneIn(8)) await events.fail('No more of it');
    else await events.complete(random.oneIn(2) ? 'Done 🎉' : undefined);
  },
};
