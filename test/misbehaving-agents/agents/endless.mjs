// Agents that do not end, ignore their signal, or return without a final state.
import { agent } from 'parley-a2a/server';

const NEVER = new Promise(() => {});
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const trap = () => {
  throw new Error('secret of a trap');
};

/** Agents that are canceled. Their task is CANCELED after the grace. */
export const stubborn = {
  'never settles': { run: () => NEVER },
  'never settles, says it works': { run: (_context, events) => events.working().then(() => NEVER) },
  'ignores its signal and goes on publishing': {
    async run(_context, events) {
      for (let step = 0; step < 1_000; step += 1) {
        await events.append('a', 'step ').catch(() => {});
        await pause(5);
      }
    },
  },
  'has produced much and never settles': {
    run: async (_context, events) => {
      await events.artifact('x'.repeat(1_000_000));
      await NEVER;
    },
  },
  'has a cancel() that throws': { run: () => NEVER, cancel: trap },
  'has a cancel() that rejects': { run: () => NEVER, cancel: () => Promise.reject(new Error('secret')) },
  'has a cancel() that hangs': { run: () => NEVER, cancel: () => NEVER },
  'has a cancel() that throws later': { run: () => NEVER, cancel: () => void setTimeout(trap, 5) },
  'throws in its abort listener': {
    run: ({ signal }) => {
      signal.addEventListener('abort', trap);
      return NEVER;
    },
  },
  'is a generator that never returns': {
    run: agent(async function* () {
      for (;;) {
        yield 'more ';
        await pause(5);
      }
    }).execute,
  },
  'is a generator that never yields': {
    run: agent(async function* () {
      await NEVER;
      yield 'never';
    }).execute,
  },
  'is a generator whose finally hangs': {
    run: agent(async function* () {
      try {
        for (;;) {
          yield 'more ';
          await pause(5);
        }
      } finally {
        await NEVER;
      }
    }).execute,
  },
};

const silent = 'The agent ended without a result.';
const failed = 'The agent failed to process the message.';

/** Agents that end by themselves, with the expected state. */
export const endings = {
  'returns at once': { run: () => {}, state: 'FAILED', says: silent },
  'returns at work': { run: (_context, events) => events.working('busy'), state: 'FAILED', says: silent },
  'returns in the middle of an artifact': {
    run: (_context, events) => events.append('a', 'x', { lastChunk: false }),
    state: 'FAILED',
    says: silent,
  },
  'goes on after its end': {
    async run(_context, events) {
      await events.complete('done');
      for (const late of [
        events.working(),
        events.artifact('late'),
        events.fail('late'),
        events.inputRequired(),
        events.publish({}),
      ]) {
        late.then(trap, () => {});
      }
      await NEVER;
    },
    state: 'COMPLETED',
    says: 'done',
  },
  'ends twice': {
    run(_context, events) {
      events.complete('done');
      events.fail('no');
      events.cancel();
    },
    state: 'COMPLETED',
    says: 'done',
  },
  'asks and never returns': {
    run: (_context, events) => events.inputRequired('and?').then(() => NEVER),
    state: 'INPUT_REQUIRED',
    says: 'and?',
  },
  'asks and goes on': {
    async run(_context, events) {
      await events.inputRequired('and?');
      events.complete('by itself').catch(() => {});
      events.artifact('late').catch(() => {});
    },
    state: 'INPUT_REQUIRED',
    says: 'and?',
  },
  'asks and throws': {
    async run(_context, events) {
      await events.inputRequired('and?');
      trap();
    },
    state: 'INPUT_REQUIRED',
    says: 'and?',
    // An error after its question changes nothing, and is logged.
    lines: 1,
  },
  'is a generator that yields garbage': {
    run: agent(async function* () {
      yield 'fine';
      yield { nothing: true };
      yield 'never';
    }).execute,
    state: 'FAILED',
    says: failed,
  },
  'is a generator that yields nothing it can name': {
    run: agent(async function* () {
      yield undefined;
    }).execute,
    state: 'FAILED',
    says: failed,
  },
  'is a generator that throws': {
    run: agent(async function* () {
      yield 'fine';
      trap();
    }).execute,
    state: 'FAILED',
    says: failed,
  },
  'is a generator that throws in finally': {
    run: agent(async function* () {
      try {
        yield 'fine';
        yield {};
      } finally {
        trap();
      }
    }).execute,
    state: 'FAILED',
    says: failed,
  },
  'saves a checkpoint that is none, and waits for nothing': {
    run(context, events) {
      context.saveCheckpoint({ big: 1n });
      return events.complete('done');
    },
    state: 'COMPLETED',
    says: 'done',
    lines: 1,
  },
};

/** Floods: how many events, and whether the agent waits for room. */
export const floods = {
  'waits for room': {
    async run({ text }, events) {
      const count = Number(text.split('#')[1]);
      for (let event = 0; event < count; event += 1) await events.append('a', `event ${event} `);
      await events.complete('all of it');
    },
  },
  'waits for nothing': {
    run({ text }, events) {
      const count = Number(text.split('#')[1]);
      for (let event = 0; event < count; event += 1) events.append('a', `event ${event} `);
      events.complete('all of it');
    },
  },
  'waits for nothing, with statuses': {
    run({ text }, events) {
      const count = Number(text.split('#')[1]);
      for (let event = 0; event < count; event += 1) events.working(`event ${event}`);
      events.complete('all of it');
    },
  },
};

/** Blocks the event loop, then continues normally. */
export const holding = {
  async run({ text }, events) {
    await events.working('before');
    const until = performance.now() + Number(text.split('#')[1]);
    while (performance.now() < until);
    await events.complete('after');
  },
};
