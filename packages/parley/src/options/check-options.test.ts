import { describe, expect, it } from 'vitest';
import { OptionsError } from '../errors/options-error.js';
import { checkOptions } from './check-options.js';
import {
  count,
  custom,
  eitherOf,
  flag,
  func,
  mapOf,
  nonEmpty,
  optionObject,
  positive,
  texts,
  webUrl,
  withMethod,
} from './option-schemas.js';
import * as Type from './option-types.js';

describe('options', () => {
  const schema = optionObject({
    name: Type.Optional(nonEmpty),
    level: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    retries: Type.Optional(count),
    timeoutMs: Type.Optional(positive),
    hosts: Type.Optional(texts),
    quiet: Type.Optional(flag),
    when: Type.Optional(func),
    storage: Type.Optional(withMethod('accept')),
    url: Type.Optional(webUrl('must be a URL')),
    cors: Type.Optional(eitherOf([flag, texts], 'must be true, false, or a list')),
    http: Type.Optional(optionObject({ stallMs: Type.Optional(positive) })),
    rooms: Type.Optional(mapOf(optionObject({ size: count }))),
    mode: Type.Optional(Type.String({ enum: ['task', 'process'] })),
    short: Type.Optional(Type.String({ maxLength: 3 })),
  });
  const problems = (options: unknown): readonly string[] => {
    try {
      checkOptions({ subject: 'make', schema, options });
      return [];
    } catch (error) {
      return error instanceof OptionsError ? error.problems : [String(error)];
    }
  };

  it('may be left out, undefined, or right', () => {
    class Storage {
      accept(): void {}
    }
    expect(problems({})).toEqual([]);
    expect(problems({ name: undefined })).toEqual([]);
    const right = { name: 'a', level: 9, retries: 0, timeoutMs: 0.5, hosts: [], quiet: false, mode: 'task' };
    const others = {
      when: () => 1,
      storage: new Storage(),
      url: 'https://a.example',
      cors: [],
      rooms: { a: { size: 1 } },
    };
    expect(problems({ ...right, ...others })).toEqual([]);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ name: 1 }, 'name: must be a string'],
    [{ name: '' }, 'name: must not be empty'],
    [{ level: 0 }, 'level: must be at least 1'],
    [{ level: 10 }, 'level: must be at most 9'],
    [{ level: 1.5 }, 'level: must be a whole number'],
    [{ retries: -1 }, 'retries: must be at least 0'],
    [{ timeoutMs: 0 }, 'timeoutMs: must be greater than 0'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs: must be a number'],
    [{ timeoutMs: '5' }, 'timeoutMs: must be a number'],
    [{ hosts: 'a' }, 'hosts: must be a list'],
    [{ hosts: ['a', 1] }, 'hosts[1]: must be a string'],
    [{ quiet: 'no' }, 'quiet: must be true or false'],
    [{ when: {} }, 'when: must be a function'],
    [{ storage: {} }, 'storage: needs a method accept'],
    [{ url: 'ftp://a.example' }, 'url: must be a URL'],
    [{ url: 'http:a.example' }, 'url: must be a URL'],
    [{ cors: 7 }, 'cors: must be true, false, or a list'],
    [{ http: [] }, 'http: must be an object'],
    [{ http: { stalMs: 1 } }, 'unknown option "http.stalMs" (did you mean "stallMs"?)'],
    [{ rooms: { a: {} } }, 'rooms.a.size: is required'],
    [{ rooms: { a: { size: 1, door: 1 } } }, 'unknown option "rooms.a.door"'],
    [{ mode: 'thread' }, 'mode: must be one of task, process'],
    [{ short: 'long' }, 'short: must have at most 3 characters'],
    [{ nmae: 'a' }, 'unknown option "nmae" (did you mean "name"?)'],
    [{ toString: 1 }, 'unknown option "toString"'],
  ])('%j are refused: %s', (options, problem) => {
    expect(problems(options)).toEqual([problem]);
  });

  it('are refused with all their problems at once, and as a whole', () => {
    expect(problems({ level: 0, hosts: [1], x: 1 })).toHaveLength(3);
    expect(problems(undefined)).toEqual(['takes an object of options, not undefined']);
  });

  it('that are missing are named by the message of their schema', () => {
    const agents = custom((value) => typeof value === 'object', 'must be an object of agents');
    const check = () =>
      checkOptions({ subject: 'make', schema: optionObject({ agents, name: nonEmpty }), options: {} });
    expect(check).toThrow(/agents: must be an object of agents.*name: is required/s);
  });
});
