import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { markdownParagraphs } from './paragraphs.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');

/** A newcomer reads the map in ten minutes. */
const MAP_BYTES = 15_000;
const README_LINES = 150;
const DECISION_LINES = 40;

it(`ARCHITECTURE.md has at most ${MAP_BYTES} bytes`, () => {
  expect(statSync(`${root}/ARCHITECTURE.md`).size).toBeLessThanOrEqual(MAP_BYTES);
});

it('ARCHITECTURE.md has one picture', () => {
  const blocks = read('ARCHITECTURE.md').match(/(?:^ {4}.*\n)+/gm) ?? [];
  expect(blocks.filter((block) => block.includes('─▶'))).toHaveLength(1);
  expect(read('ARCHITECTURE.md')).not.toContain('```');
});

it(`README.md has at most ${README_LINES} lines`, () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES);
});

describe('the decisions', () => {
  const names = readdirSync(`${root}/docs/decisions`).filter((name) => name !== 'README.md');

  it.each(names)('%s has a number, three sections, and a line in the index', (name) => {
    const page = read(`docs/decisions/${name}`);
    const number = Number(/^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1]);
    const [, title] = new RegExp(`^# ${number}\\. (.+)\\n`).exec(page) ?? [];
    expect(Array.from(page.matchAll(/^##+ (.+)$/gm), ([, heading]) => heading)).toEqual([
      'Context',
      'Decision',
      'Consequence',
    ]);
    expect(read('docs/decisions/README.md')).toContain(`\n- [${title}](${name})\n`);
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(DECISION_LINES);
  });
});

/** Words of pages for users that are written by hand, with the tables. Code and what scripts write do not count. */
const MOST_WORDS = 50_000;

it(`docs have at most ${MOST_WORDS} words that are written by hand`, () => {
  const pages = readdirSync(`${root}/docs`).filter((name) => name.endsWith('.md') && name !== 'cli-compliance.md');
  const counts = pages.map((name) => [name, wordsOf(read(`docs/${name}`))] as const).sort(([, a], [, b]) => b - a);
  const sum = counts.reduce((all, [, words]) => all + words, 0);
  expect(sum, counts.map(([name, words]) => `${words} ${name}`).join('\n')).toBeLessThanOrEqual(MOST_WORDS);
});

const GENERATED = /<!-- npm run (?:reference|bench).*\n\n(?:\|.*\n)+|<!-- The table begins[\s\S]*?<!-- The table ends/g;

/** A span of code is one word. */
function wordsOf(page: string): number {
  const written = page.replaceAll(GENERATED, '');
  return markdownParagraphs(written)
    .flatMap(({ text }) => text.split(/\s+/))
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** A page shows before it explains. */
const BEFORE_EXAMPLE = 80;
/** References of tables alone, or written by a script. */
const TABLES_ALONE = ['cli-compliance.md', 'cli-reference.md', 'configuration.md', 'scaling.md'];

describe('the pages of the documentation', () => {
  const pages = readdirSync(`${root}/docs`).filter((name) => name.endsWith('.md') && name !== 'README.md');

  it('stand in the index once', () => {
    const listed = Array.from(read('docs/README.md').matchAll(/\]\(([\w-]+\.md)\)/g), ([, name]) => name);
    expect(listed.toSorted()).toEqual(pages.toSorted());
  });

  it.each(pages.filter((name) => !TABLES_ALONE.includes(name)))(
    `%s has at most ${BEFORE_EXAMPLE} words before its first example`,
    (name) => {
      const [beginning = '', ...rest] = read(`docs/${name}`).split(/^ *```/m);
      expect(rest).not.toEqual([]);
      expect(wordsOf(beginning)).toBeLessThanOrEqual(BEFORE_EXAMPLE);
    },
  );
});
