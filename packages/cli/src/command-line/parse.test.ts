import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SETTING_ORIGINS } from '../settings/setting-origins.js';
import { COMMANDS } from './commands.js';
import { FLAG_NAMES, flagOf } from './flags.js';
import { flagsOf, parseCommandLine } from './parse.js';

/** Splits a line as a shell does, as far as the documents need it. */
function words(line: string): string[] {
  const bare = line.replace(/\s+#.*$/, '').replace(/\s*[|>].*$/, '');
  return Array.from(bare.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, one, two, three]) => one ?? two ?? three ?? '');
}

/** The calls of parley in the blocks of a document. */
function callsIn(path: string): string[] {
  const text = readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
  const blocks = Array.from(text.matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => block ?? '');
  return blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith('parley '));
}

const read = (line: string) => parseCommandLine(words(line).slice(1));

describe('command lines in documents', () => {
  it.each(COMMANDS.filter(({ path }) => path !== 'completion'))(
    'the example of $path means it',
    ({ path, example }) => {
      expect(read(example).command?.path).toBe(path);
    },
  );

  it.each(
    ['docs/cli.md', 'packages/cli/skill/references/examples.md'].flatMap((path) =>
      callsIn(path).map((line) => [path, line]),
    ),
  )('%s: %s', (_, line) => {
    expect(read(line).command).toBeDefined();
  });
});

describe('the tables', () => {
  it('use every flag, and give each name and letter to one flag', () => {
    const used = new Set(COMMANDS.flatMap((command) => flagsOf(command)));
    expect(FLAG_NAMES.filter((name) => !used.has(name))).toEqual([]);
    const names = FLAG_NAMES.flatMap((name) => [name, ...(flagOf(name).aliases ?? [])]);
    expect(new Set(names).size).toBe(names.length);
    const letters = FLAG_NAMES.flatMap((name) => flagOf(name).short ?? []);
    expect(new Set(letters).size).toBe(letters.length);
  });

  it('DEFAULT_001: let neither variables nor files enable streaming, help or version', () => {
    for (const name of ['stream', 'help', 'version', 'config'] as const)
      expect(SETTING_ORIGINS[name]).toBe('command line');
  });
});

describe('parsing', () => {
  it('accepts flags before, between and after the words of a command', () => {
    expect(parseCommandLine(['-o', 'json', 'task', '--debug', 'get', 'id', '-a', 'x'])).toMatchObject({
      command: { path: 'task get' },
      args: ['id'],
      given: [
        { name: 'output', value: 'json' },
        { name: 'debug', value: true },
        { name: 'agent-card', value: 'x' },
      ],
    });
  });

  it('does not parse words after --', () => {
    expect(parseCommandLine(['send', '--', '--text'])).toMatchObject({ args: ['--text'], given: [] });
  });

  it.each([
    ['--immediate', 'async'],
    ['--return-immediately', 'async'],
    ['--no-wait', 'async'],
    ['--watch', 'wait'],
  ])('%s is %s', (alias, name) => {
    expect(parseCommandLine(['send', 'x', alias]).given).toEqual([{ name, value: true }]);
  });
});
