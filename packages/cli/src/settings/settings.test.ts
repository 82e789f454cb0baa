import { describe, expect, it } from 'vitest';
import { durationOf, Settings } from './settings.js';

describe('times', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['3', 3000],
    ['0.5', 500],
    ['', undefined],
    ['2 s', undefined],
    ['-1s', undefined],
    ['1x', undefined],
  ])('%j is %s ms', (text, ms) => {
    expect(durationOf(text)).toBe(ms);
  });
});

describe('two flags that exclude each other', () => {
  const layer = (source: string, values: Record<string, string>) => ({ source, values });

  it('the one with more authority counts', () => {
    const asked = new Settings([{ name: 'wait', value: true }], [layer('environment', { A2ACLI_ASYNC: 'true' })]);
    expect(asked.either('async', 'wait')).toBe('wait');
    const layers = [layer('environment', { A2ACLI_ASYNC: 'true' }), layer('file', { A2ACLI_WAIT: 'true' })];
    expect(new Settings([], layers).either('async', 'wait')).toBe('async');
  });

  it('from one place they are a mistake', () => {
    const both = [
      { name: 'wait', value: true },
      { name: 'async', value: true },
    ] as const;
    expect(() => new Settings(both, []).either('async', 'wait')).toThrow(/exclude each other/);
  });

  it('what is no boolean is told by its variable', () => {
    const settings = new Settings([], [layer('environment', { A2ACLI_ASYNC: 'maybe' })]);
    expect(() => settings.isOn('async')).toThrow(/A2ACLI_ASYNC is true or false/);
  });
});
