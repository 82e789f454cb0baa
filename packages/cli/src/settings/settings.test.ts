import { describe, expect, it } from 'vitest';
import { FLAG_NAMES, flagOf, variableOf } from '../command-line/flags.js';
import { CREDENTIAL_FLAGS, SETTING_ORIGINS } from './setting-origins.js';
import { durationOf, Settings } from './settings.js';

const COMMAND_LINE_ONLY = [
  'config',
  'help',
  'version',
  'text',
  'file',
  'data',
  'media-type',
  'stream',
  'expires',
  'resume',
  'owner',
  'anonymous-owner',
  'only-agent',
  'only-tenant',
  'to',
  'yes',
  'agent',
  'http',
  'watch',
];

describe('variables', () => {
  it.each(FLAG_NAMES.filter((name) => !COMMAND_LINE_ONLY.includes(name)))('set --%s', (name) => {
    const { type, choices } = flagOf(name);
    const value = type === 'boolean' ? 'true' : (choices?.at(-1) ?? '1');
    const settings = new Settings([], [{ source: 'environment', values: { [variableOf(name)]: value } }]);
    expect(type === 'boolean' ? settings.isOn(name) : settings.list(name)).toEqual(type === 'boolean' || [value]);
    expect(settings.findSetting(name)?.source).toBe('environment');
  });

  it.each(COMMAND_LINE_ONLY.flatMap((name) => FLAG_NAMES.find((one) => one === name) ?? []))(
    'do not set --%s',
    (name) => {
      const settings = new Settings([], [{ source: 'environment', values: { [variableOf(name)]: 'true' } }]);
      expect(settings.findSetting(name)).toBeUndefined();
    },
  );

  it('PORT and HOST have the lowest precedence, and are read from the environment only', () => {
    const environment = (values: Record<string, string>) => ({ source: 'environment', values });
    const common = { PORT: '3000', HOST: '::1' };
    expect(new Settings([], [environment(common)]).text('port')).toBe('3000');
    expect(new Settings([], [environment(common)]).text('host')).toBe('::1');
    expect(new Settings([], [environment({ ...common, A2ACLI_PORT: '4000' })]).text('port')).toBe('4000');
    expect(new Settings([{ name: 'port', value: '5000' }], [environment(common)]).text('port')).toBe('5000');
    expect(new Settings([], [environment({}), { source: '/a/.env', values: common }]).text('port')).toBe('8080');
  });
});

describe('what an untrusted file sets', () => {
  const untrustedValue = (name: (typeof FLAG_NAMES)[number], value = 'x') => ({
    source: '/repository/.env',
    values: { [variableOf(name)]: flagOf(name).type === 'boolean' ? 'true' : (flagOf(name).choices?.at(-1) ?? value) },
    distrust: 'unknown' as const,
  });
  const by = (origin: string) => FLAG_NAMES.filter((name) => SETTING_ORIGINS[name] === origin);

  it.each(by('trusted'))('--%s is refused', (name) => {
    expect(() => new Settings([], [untrustedValue(name)]).list(name)).toThrow(/not trusted/);
    expect(() => new Settings([], [untrustedValue(name)]).checkTrust([name])).toThrow(/not trusted/);
    expect(() => new Settings([], [{ ...untrustedValue(name), distrust: 'changed' }]).list(name)).toThrow(
      /has changed/,
    );
  });

  it.each(by('recipient'))('--%s is refused beside a credential from elsewhere', (name) => {
    expect(new Settings([], [untrustedValue(name)]).list(name)).toEqual(['x']);
    for (const credential of CREDENTIAL_FLAGS) {
      const flag = new Settings([{ name: credential, value: 'secret' }], [untrustedValue(name)]);
      expect(() => flag.list(name)).toThrow(new RegExp(`not trusted: its ${variableOf(name)} decides where`));
      const global = { source: '/global/.env', values: { [variableOf(credential)]: 'secret' } };
      expect(() => new Settings([], [untrustedValue(name), global]).list(name)).toThrow(/not trusted/);
    }
    expect(() => new Settings([], [untrustedValue(name)]).checkRecipients('a login')).toThrow(
      /decides where a login goes/,
    );
    expect(new Settings([{ name, value: 'mine' }], [untrustedValue(name)]).list(name)).toEqual(['mine']);
  });

  it.each(by('anywhere'))('--%s is taken', (name) => {
    const settings = new Settings([{ name: 'auth', value: 'secret' }], [untrustedValue(name)]);
    if (name !== 'auth') expect(settings.list(name)).toHaveLength(1);
  });
});

describe('times', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['3', 3000],
    ['0.5', 500],
    ['1.1h', 3_960_000],
    ['1500.7ms', 1501],
    ['0.0015', 2],
    ['', undefined],
    ['2 s', undefined],
    ['-1s', undefined],
    ['1x', undefined],
  ])('%j is %s ms', (text, ms) => {
    expect(durationOf(text)).toBe(ms);
  });
});

describe('times of timers', () => {
  it('are limited, because Node.js fires a longer timer at once', () => {
    const of = (value: string) => new Settings([{ name: 'timeout', value }], []).duration('timeout');
    expect(of('24d')).toBe(2_073_600_000);
    expect(of('30d')).toBe(2_147_483_647);
    expect(() => of('9'.repeat(400))).toThrow(/--timeout is a time/);
    expect(new Settings([{ name: 'finished', value: '30d' }], []).duration('finished')).toBe(2_592_000_000);
  });
});

describe('two flags that exclude each other', () => {
  const layer = (source: string, values: Record<string, string>) => ({ source, values });

  it('the one whose source has precedence wins', () => {
    const asked = new Settings([{ name: 'wait', value: true }], [layer('environment', { A2ACLI_ASYNC: 'true' })]);
    expect(asked.either('async', 'wait')).toBe('wait');
    const layers = [layer('environment', { A2ACLI_ASYNC: 'true' }), layer('file', { A2ACLI_WAIT: 'true' })];
    expect(new Settings([], layers).either('async', 'wait')).toBe('async');
  });

  it('from the same source they are an error', () => {
    const both = [
      { name: 'wait', value: true },
      { name: 'async', value: true },
    ] as const;
    expect(() => new Settings(both, []).either('async', 'wait')).toThrow(/exclude each other/);
  });

  it('an invalid boolean is an error that names its variable', () => {
    const settings = new Settings([], [layer('environment', { A2ACLI_ASYNC: 'maybe' })]);
    expect(() => settings.isOn('async')).toThrow(/A2ACLI_ASYNC is true or false/);
  });
});
