// Agents that throw, at once and later, with and without a handler. And agents that return no promise.
import { EventEmitter } from 'node:events';

const NEVER = new Promise(() => {});
const failed = 'The agent failed to process the message.';
const silent = 'The agent ended without a result.';

class Spiteful extends Error {
  get message() {
    throw new Error('secret of a message');
  }
  get stack() {
    throw new Error('secret of a stack');
  }
}
const trap = () => {
  throw new Error('secret of a trap');
};
const looped = new Error('secret, in a circle');
looped.cause = looped;

const thrown = {
  'an error': () => new Error('secret'),
  null: () => null,
  nothing: () => undefined,
  'a text': () => 'secret',
  'a number': () => Number.NaN,
  'a symbol': () => Symbol('secret'),
  'a frozen object': () => Object.freeze({ secret: true }),
  'an object without prototype': () => Object.create(null),
  'a function': () => () => 'secret',
  'a proxy that throws': () => new Proxy({}, { get: trap, getPrototypeOf: trap, ownKeys: trap }),
  'an error that throws when looked at': () => new Spiteful(),
  'an error that is its own cause': () => looped,
};

const ways = {
  'throws at once': (what) => () => {
    throw what();
  },
  'throws after a tick': (what) => async () => {
    await null;
    throw what();
  },
};

const strays = {
  'rejects in a promise nobody waits for': () => void Promise.reject(new Error('secret')),
  'rejects with null there': () => void Promise.reject(null),
  'throws in a timer': () => void setTimeout(trap, 5),
  'throws at the next tick': () => void process.nextTick(trap),
  // Node.js 22 does not tell whose microtask it was.
  ...(Number.parseInt(process.versions.node, 10) >= 24 && { 'throws in a microtask': () => queueMicrotask(trap) }),
  'throws in a promise a while later': () => {
    (async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      trap();
    })();
  },
  'emits an error nobody listens for': () =>
    void setTimeout(() => new EventEmitter().emit('error', new Error('secret')), 5),
};

const returned = {
  'returns a number': () => 42,
  'returns null': () => null,
  'resolves twice': () => ({
    // biome-ignore lint/suspicious/noThenProperty: a broken promise is what is tested
    then(resolve) {
      resolve();
      resolve();
    },
  }),
  'resolves and rejects': () => ({
    // biome-ignore lint/suspicious/noThenProperty: a broken promise is what is tested
    then(resolve, reject) {
      resolve();
      reject(new Error('secret'));
    },
  }),
};

const all = (agents, make) => Object.fromEntries(Object.entries(agents).flatMap(make));

export const failures = {
  ...all(ways, ([way, wrap]) =>
    Object.entries(thrown).map(([name, what]) => [
      `${way}: ${name}`,
      { run: wrap(what), state: 'FAILED', says: failed },
    ]),
  ),
  ...all(strays, ([name, stray]) => [
    [
      `${name}, and never ends`,
      {
        run: () => {
          stray();
          return NEVER;
        },
        state: 'FAILED',
        says: failed,
      },
    ],
  ]),
  ...all(returned, ([name, run]) => [[name, { run, state: 'FAILED', says: silent }]]),
  'has a then that throws': {
    // biome-ignore lint/suspicious/noThenProperty: a broken promise is what is tested
    run: () => ({ then: trap }),
    state: 'FAILED',
    says: failed,
  },
  'has a then that cannot be read': {
    run: () => Object.defineProperty({}, 'then', { get: trap }),
    state: 'FAILED',
    says: failed,
  },
};

/** The task ends well, and the error comes after it. */
export const afterwards = all(strays, ([name, stray]) => [
  [
    `completes, then ${name}`,
    {
      run: async (_context, events) => {
        await events.complete('done');
        setTimeout(stray, 20);
      },
      state: 'COMPLETED',
      says: 'done',
    },
  ],
]);
