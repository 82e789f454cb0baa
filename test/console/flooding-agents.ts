import type { AgentOptions } from 'parley-a2a/node';
import type { Steps } from './steps.js';

/** Characters of the artifact of the huge agent. */
export const HUGE = 50_000_000;

/** Pieces of the huge artifact. A client takes no event of 50 MB. */
export const PIECES = 10;

/** Sends an artifact of 50 MB, one piece for each step. */
export const huge = (steps: Steps): AgentOptions => ({
  name: 'Huge',
  description: 'Answers with more than a page can show.',
  agent: {
    async execute({ signal }, events) {
      const piece = 'word '.repeat(HUGE / 5 / PIECES);
      const id = await events.artifact(piece, { name: 'huge', lastChunk: false });
      for (let at = 1; at < PIECES; at++) {
        if (!(await steps.next(signal))) return;
        await events.append(id, piece);
      }
      await events.complete();
    },
  },
});

/** Events of the flooding agent after its step. */
export const MORE = 10_000;

/** Sends as many events as the message says, waits for a step, and sends more. */
export function flood(steps: Steps): AgentOptions {
  return {
    name: 'Flood',
    description: 'Sends events without an end.',
    agent: {
      async execute(context, events) {
        const id = await events.artifact('0 ', { name: 'flood', lastChunk: false });
        for (let at = 2; at <= Number(context.text); at++) await events.append(id, `${at} `);
        if (!(await steps.next(context.signal))) return;
        for (let at = 1; at <= MORE; at++) await events.append(id, `more ${at} `);
        await events.complete();
      },
    },
  };
}
