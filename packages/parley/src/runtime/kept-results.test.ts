import { expect, it } from 'vitest';
import { keptResults } from './kept-results.js';

it('a result is made once, also if it is undefined; an error is not kept', () => {
  const made: string[] = [];
  const of = keptResults((text) => {
    made.push(text);
    if (text === 'broken') throw new Error('no result');
    return text === 'none' ? undefined : `of ${text}`;
  }, 10);
  for (let time = 0; time < 2; time++) {
    expect(of('a')).toBe('of a');
    expect(of('none')).toBeUndefined();
    expect(() => of('broken')).toThrow('no result');
  }
  expect(made).toEqual(['a', 'none', 'broken', 'broken']);
});

it('no more results are kept than asked for', () => {
  const made: string[] = [];
  const of = keptResults((text) => made.push(text), 2);
  for (const text of ['a', 'b', 'a', 'b', 'c', 'c', 'a']) of(text);
  expect(made).toEqual(['a', 'b', 'c', 'a']);
});
