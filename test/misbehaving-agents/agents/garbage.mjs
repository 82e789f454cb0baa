// Agents that publish invalid events. Each fails only its own task, without details for callers.
const says = 'The agent gave an invalid response.';
const NEVER = new Promise(() => {});

/** Publishes by every method without waiting, and then completes the task. */
const publishing = (make) => (context, events) => {
  events.publish(make(context, events));
  events.complete('all went well');
};
const inData = (make) => (_context, events) => {
  events.artifact({ data: make() }, { artifactId: 'a' });
  events.complete('all went well');
};

function circle() {
  const loop = { name: 'loop' };
  loop.self = loop;
  return loop;
}

/** Two references back to itself. Code that follows every path up to some depth never ends. */
function manyCircles() {
  const loop = { list: [] };
  loop.self = loop;
  loop.again = { loop };
  loop.list.push(loop, loop.list);
  return loop;
}

/** A few objects whose JSON would contain 2^60 objects. */
function bomb() {
  let node = ['x'];
  for (let level = 0; level < 60; level += 1) node = [node, node];
  return node;
}

function nested(depth) {
  let node = 'deep';
  for (let level = 0; level < depth; level += 1) node = { node };
  return node;
}

const throwing = (what) => {
  throw what;
};
const trap = () => throwing(new Error('secret of a trap'));
const trapped = (target) => new Proxy(target, { get: trap, ownKeys: trap, has: trap, getOwnPropertyDescriptor: trap });
function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}
const part = { text: 'x' };
const artifactUpdate = (artifact, over = {}) => ({ artifactUpdate: { artifact, ...over } });
const statusUpdate = (status, over = {}) => ({ statusUpdate: { status, ...over } });
const working = { state: 'TASK_STATE_WORKING' };

const published = {
  nothing: () => undefined,
  null: () => null,
  'a number': () => 7,
  'a text': () => 'garbage',
  'a function': () => () => {},
  'a symbol': () => Symbol('garbage'),
  'a list': () => [],
  'an empty object': () => ({}),
  'a promise': () => Promise.resolve({ message: { parts: [part] } }),
  'two events at once': () => ({ ...statusUpdate(working), ...artifactUpdate({ artifactId: 'a', parts: [part] }) }),
  'an unknown event': () => ({ somethingElse: {} }),
  'a trapped event': () => trapped({}),
  'a revoked event': () => revoked({}),
  'a trapped status': () => statusUpdate(trapped({})),
  'a trapped message': () => statusUpdate({ ...working, message: trapped({}) }),
  'a getter that throws': () => ({
    get message() {
      return throwing(new Error('secret of a getter'));
    },
  }),
  'a getter that throws null': () => ({
    get artifactUpdate() {
      return throwing(null);
    },
  }),
  'the id of no task': () => statusUpdate(working, { taskId: 'another-task' }),
  'an id that is no text': () => statusUpdate(working, { taskId: { toString: () => 'secret' } }),
  'another context': () => artifactUpdate({ artifactId: 'a', parts: [part] }, { contextId: 'another' }),
  'a state that is none': () => statusUpdate({ state: 'TASK_STATE_SUCCEEDED' }),
  'no state': () => statusUpdate({ state: 'TASK_STATE_UNSPECIFIED' }),
  'a status that is none': () => statusUpdate(7),
  'a message of the user': () => ({ message: { role: 'ROLE_USER', parts: [part] } }),
  'a message without parts': () => ({ message: { parts: [] } }),
  'an artifact without parts': () => artifactUpdate({ artifactId: 'a', parts: [] }),
  'an artifact without id': () => artifactUpdate({ parts: [part] }),
  'a part with two contents': () => artifactUpdate({ artifactId: 'a', parts: [{ text: 'x', url: 'https://x' }] }),
  'a part without content': () => artifactUpdate({ artifactId: 'a', parts: [{}] }),
  'two artifacts of one id': () => ({
    task: {
      status: working,
      artifacts: [
        { artifactId: 'a', parts: [part] },
        { artifactId: 'a', parts: [part] },
      ],
    },
  }),
  'raw content that is not base64': () => artifactUpdate({ artifactId: 'a', parts: [{ raw: '%%%' }] }),
  'raw content in bytes': () => artifactUpdate({ artifactId: 'a', parts: [{ raw: new Uint8Array(8) }] }),
  'metadata that is a list': () => artifactUpdate({ artifactId: 'a', parts: [part], metadata: [] }),
  'an error': () => new Error('secret of an error'),
};

const data = {
  'a list of nothing': () => [undefined],
  'a circle': circle,
  bytes: () => new Uint8Array(50_000_000),
  'many circles': manyCircles,
  'what is huge when written out': bomb,
  '200 levels': () => nested(200),
  'a BigInt': () => ({ big: 1n }),
  'a function': () => ({ call: () => {} }),
  'a symbol': () => ({ symbol: Symbol('x') }),
  'a number that is none': () => ({ number: Number.NaN }),
  'half of a surrogate pair': () => 'x\udc00',
  'a name that is half of a pair': () => ({ '\ud800': 1 }),
  'an infinite number': () => [Number.POSITIVE_INFINITY],
  'a getter that throws': () => ({
    get secret() {
      return throwing(new TypeError('secret is not a function'));
    },
  }),
  'a trap': () => ({ inner: trapped({}) }),
  'a trapped list': () => trapped([]),
  'a revoked proxy': () => revoked([]),
  'a toJSON that throws': () => ({ toJSON: trap }),
  'a toJSON that returns itself': () => {
    const self = { toJSON: () => self };
    return self;
  },
};

const calls = {
  'working(null)': (_context, events) => events.working(null),
  'working(7)': (_context, events) => events.working(7),
  'complete with a trap': (_context, events) => events.complete(trapped({})),
  'artifact()': (_context, events) => events.artifact(undefined),
  'artifact(trap)': (_context, events) => events.artifact(trapped({})),
  'artifact(text, null)': (_context, events) => events.artifact('x', null),
  'artifact(text, trap)': (_context, events) => events.artifact('x', trapped({})),
  'append(object, text)': (_context, events) => events.append({ id: 'a' }, 'x'),
  'append(trap, text)': (_context, events) => events.append(trapped({}), 'x'),
  'a list with a map of its own': (_context, events) => {
    const parts = [part];
    parts.map = () => throwing(new Error('secret of a map'));
    parts.push(7);
    events.artifact(parts);
  },
  'garbage out of a timer': (_context, events) => {
    setTimeout(() => events.publish(trapped({})), 5);
    return NEVER;
  },
  'garbage that is awaited': async (_context, events) => {
    await events.publish({ nothing: true });
    await events.complete();
  },
  'garbage whose refusal nobody hears': (_context, events) => {
    Promise.resolve().then(() => events.publish(undefined));
    return NEVER;
  },
};

const failing = (agents, group, wrap = (run) => run) =>
  Object.fromEntries(
    Object.entries(agents).map(([name, run]) => [`${group}: ${name}`, { run: wrap(run), state: 'FAILED', says }]),
  );

export const garbage = {
  ...failing(published, 'publishes', publishing),
  ...failing(data, 'data', inData),
  ...failing(calls, 'calls'),
  'a text that is larger than a task may be': {
    run: (_context, events) => void events.complete('x'.repeat(5_000_000)),
    state: 'FAILED',
    says: 'The agent produced more than a task can hold.',
  },
  'pieces that are larger than a task may be': {
    run: async (_context, events) => {
      for (let piece = 0; piece < 80; piece += 1) await events.append('a', 'x'.repeat(100_000));
    },
    state: 'FAILED',
    says: 'The agent produced more than a task can hold.',
  },
};

class Point {
  #secret = 'hidden';
  x = 1;
  get y() {
    return this.#secret;
  }
}

const proto = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x"}',
);

/** Odd but valid events, with the view of callers. */
export const odd = {
  'a class instance': { data: () => new Point(), shown: { x: 1 } },
  'a date': { data: () => ({ at: new Date(0) }), shown: { at: '1970-01-01T00:00:00.000Z' } },
  'an object without prototype': { data: () => Object.assign(Object.create(null), { a: 1 }), shown: { a: 1 } },
  'frozen things': { data: () => Object.freeze({ a: Object.freeze([1]) }), shown: { a: [1] } },
  'members without a value': { data: () => ({ a: undefined, b: 1 }), shown: { b: 1 } },
  'names of prototypes': { data: () => proto, shown: proto },
  'the same object twice': {
    data: () => {
      const same = { a: 1 };
      return [same, same];
    },
    shown: [{ a: 1 }, { a: 1 }],
  },
  '90 levels': { data: () => nested(90), shown: nested(90) },
  'minus zero and large numbers': { data: () => [-0, 1e308, 2 ** 60], shown: [0, 1e308, 2 ** 60] },
  'controls and line separators': {
    data: () => 'a\u0000b\u2028c\r\n\r\nevent: x\n\nd',
    shown: 'a\u0000b\u2028c\r\n\r\nevent: x\n\nd',
  },
};
