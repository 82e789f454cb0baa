import { describe, expect, it } from 'vitest';
import { FrameCheck, type FrameLimits } from './frame-check.js';

const LIMITS: FrameLimits = {
  items: 1000,
  pathLength: 4,
  calls: 4,
  capabilities: 2,
  callbacks: 2,
  runningLength: 300_000,
};

/** The reason for which the last of these frames is refused; `undefined` if all are taken. */
function refusalOf(frames: readonly unknown[], limits: Partial<FrameLimits> = {}): string | undefined {
  const check = new FrameCheck({ ...LIMITS, ...limits });
  try {
    for (const frame of frames) check.receive(frame, JSON.stringify(frame)?.length ?? 0);
  } catch (fault) {
    return (fault as Error).message;
  }
  return undefined;
}

const call = (...args: unknown[]) => ['push', ['pipeline', 0, ['ping'], args]];
const nestObjects = (depth: number): unknown => (depth === 0 ? 1 : { a: nestObjects(depth - 1) });

describe('the check of frames', () => {
  it.each([
    ['a call', call()],
    ['the read of a property', ['push', ['pipeline', 0, ['agent']]]],
    ['plain values', call(1, 'a', true, null, { a: [[1, 'x']] }, [[]])],
    ['nothing', call(['undefined'])],
    ['bytes', call(['bytes', 'AQID'])],
    ['an error', call(['error', 'TypeError', 'text', null, { reason: 'X', list: [[1]] }])],
    ['a function of the peer', call(['export', -1])],
    ['an object of ours', call(['import', -1])],
    ['a result of a call', call(['pipeline', 1, ['task', 'id']])],
    ['the pull of a result', ['pull', 1]],
    ['an answer', ['resolve', 1, { a: 1 }]],
    ['a failure', ['reject', 1, ['error', 'Error', 'text']]],
    ['a release', ['release', -1, 1]],
    ['a pipe', ['pipe']],
    ['the end', ['abort', ['error', 'Error', 'text']]],
  ])('takes %s', (_, frame) => {
    expect(refusalOf([frame])).toBeUndefined();
  });

  it('takes writes to a pipe, and its stream as a value', () => {
    const write = (method: string) => ['stream', ['pipeline', 1, [method], [['bytes', 'AQID']]]];
    expect(
      refusalOf([['pipe'], call(['readable', 1]), write('write'), write('close'), write('abort')]),
    ).toBeUndefined();
  });

  const messages = ['map', 'call', 'hello', '', 'PUSH', 'constructor', '__proto__', 0, null, undefined];
  it.each(messages)('refuses messages of the type %j', (type) => {
    expect(refusalOf([[type, 1]])).toMatch('The type of a message');
  });

  const expressions = [
    'promise',
    'remap',
    'writable',
    'date',
    'bigint',
    'url',
    'headers',
    'request',
    'response',
    'blob',
  ];
  const others = ['inf', '-inf', 'nan', 'Pipeline', 'toString', '', 1, null, true];
  it.each([...expressions, ...others])('refuses expressions of the type %j', (type) => {
    expect(refusalOf([call([type])])).toMatch('The type of an expression');
  });

  it.each([
    ['no array', { push: 1 }],
    ['an empty one', []],
    ['an empty expression', call([])],
    ['a push that is no call', ['push', 1]],
    ['a push of a function', ['push', ['export', -1]]],
    ['a push with more members', [...call(), 1]],
    ['a call with more members', ['push', ['pipeline', 0, [], [], 1]]],
    ['a call within a value', call(['pipeline', 0, ['ping'], []])],
    ['a call of an object within a value', call(['import', 0, ['ping'], []])],
    ['a target that is no number', ['push', ['pipeline', '0', [], []]]],
    ['arguments that are no list', ['push', ['pipeline', 0, [], {}]]],
    ['a long path', ['push', ['pipeline', 0, ['a', 'b', 'c', 'd', 'e'], []]]],
    ['a path with an object', ['push', ['pipeline', 0, [{}], []]]],
    ['a path with a long name', ['push', ['pipeline', 0, ['a'.repeat(1000)], []]]],
    ['a path with a fraction', ['push', ['pipeline', 0, [0.5], []]]],
    ['a deep value', call(nestObjects(300))],
    ['a write to no pipe', ['stream', ['pipeline', 0, ['write'], [1]]]],
    ['a stream message that is no call', ['stream', 1]],
    ['bytes that are no text', call(['bytes', 1])],
    ['bytes of another type', call(['bytes', 'AQID', 'Int8Array'])],
    ['an error without a message', call(['error', 'Error'])],
    ['an error with a list of members', call(['error', 'Error', '', null, []])],
    ['an expression within an error', call(['error', 'Error', '', null, { cause: ['other'] }])],
    ['an answer without a value', ['resolve', 1]],
    ['an answer to no number', ['resolve', {}, 1]],
    ['a pull of no number', ['pull', 'a']],
    ['a pull of a number that is too large', ['pull', 2 ** 60]],
    ['a release without a count', ['release', 1]],
    ['a release of nothing', ['release', 1, 0]],
    ['a negative release', ['release', 1, -1]],
    ['many references', call([Array.from({ length: 300 }, () => ['pipeline', 0])])],
  ])('refuses %s', (_, frame) => {
    expect(refusalOf([frame])).toEqual(expect.any(String));
  });

  it('refuses a write to a pipe that has no such method', () => {
    expect(refusalOf([['pipe'], ['stream', ['pipeline', 1, ['getWriter'], [1]]]])).toMatch('no such method');
  });

  it('bounds the calls and pipes that are not released', () => {
    const four = [call(), call(), ['pipe'], ['pipe']];
    expect(refusalOf(four)).toBeUndefined();
    expect(refusalOf([...four, call()])).toMatch('Too many calls');
    expect(refusalOf([...four, ['pipe']])).toMatch('Too many pipes');
    expect(refusalOf([...four, ['release', 1, 1], ['release', 3, 1], call(), ['pipe']])).toBeUndefined();
  });

  it('bounds the large calls that have no answer', () => {
    const check = new FrameCheck({ ...LIMITS, calls: 100 });
    const large = () => check.receive(call(), 140_000);
    large();
    large();
    check.receive(call(), 60_000);
    expect(large).toThrow('Too many large calls');
    const next = new FrameCheck({ ...LIMITS, calls: 100 });
    for (let id = 1; id < 10; id += 2) {
      next.receive(call(), 140_000);
      next.receive(call(), 140_000);
      next.send(['resolve', id, 1], `["resolve",${id},1]`);
      next.receive(['release', id + 1, 1], 10);
      next.receive(['release', id, 1], 10);
    }
  });

  it('bounds the functions of the peer', () => {
    const check = new FrameCheck({ ...LIMITS, calls: 100 });
    const give = (id: number) => check.receive(call(['export', id]), 10);
    give(-1);
    give(-2);
    give(-2);
    expect(() => give(-3)).toThrow('Too many callbacks');
    check.send(['release', -1, 1], '["release",-1,1]');
    check.send(['release', -3, 1], '["release",-3,1]');
    give(-4);
  });

  it('bounds the objects that the peer holds', () => {
    const check = new FrameCheck(LIMITS);
    const give = (id: number) => {
      const frame = ['resolve', 1, { subscription: ['export', id], text: 'a' }];
      check.send(frame, JSON.stringify(frame));
    };
    give(-1);
    give(-1);
    give(-2);
    check.receive(['release', -1, 1], 10);
    expect(() => give(-3)).toThrow('Too many objects');
    check.receive(['release', -3, 1], 10);
    check.receive(['release', -1, 1], 10);
    give(-4);
  });

  it('counts the bytes of writes until they are answered', () => {
    const check = new FrameCheck(LIMITS);
    check.receive(['pipe'], 8);
    check.receive(['stream', ['pipeline', 1, ['write'], [['bytes', 'AQID']]]], 1000);
    check.receive(['stream', ['pipeline', 1, ['write'], [['bytes', 'AQID']]]], 500);
    expect(check.unconsumed).toBe(1500);
    check.send(['resolve', 2, ['undefined']], '["resolve",2,["undefined"]]');
    check.send(['resolve', 2, ['undefined']], '["resolve",2,["undefined"]]');
    check.send(['reject', 1, ['undefined']], '["reject",1,["undefined"]]');
    expect(check.unconsumed).toBe(500);
  });
});
