import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const tests = fileURLToPath(new URL('..', import.meta.url));
const MOST_SUBJECTS = 25;

interface Subject {
  readonly name: string;
  readonly words: readonly string[];
  readonly folders: readonly string[];
}

const codeSpans = (cell = '') => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text);

/** The rows of the table of `test/README.md`. */
function readSubjects(): readonly Subject[] {
  const rows = readFileSync(`${tests}README.md`, 'utf8').matchAll(/^\| ([^|]+) \| (`[^|]+) \| ([^|]+) \|([^|]*)\|$/gm);
  return Array.from(rows, ([, name = '', words, home, others]) => ({
    name,
    words: codeSpans(words),
    folders: [...codeSpans(home), ...codeSpans(others)].toSorted(),
  }));
}

const subjects = readSubjects();
const sources = globSync('*/**/*.ts', { cwd: tests, exclude: ['**/node_modules/**', '{architecture,docs}/**'] }).map(
  (path) => ({
    folder: path.split('/')[0] ?? '',
    text: readFileSync(tests + path, 'utf8'),
  }),
);

it(`has at most ${MOST_SUBJECTS} subjects, each with one home`, () => {
  expect(subjects.length).toBeGreaterThan(10);
  expect(subjects.length).toBeLessThanOrEqual(MOST_SUBJECTS);
});

it.each(subjects)('$name: its tests are in the folders of its row', ({ words, folders }) => {
  const named = new RegExp(String.raw`(?<![\w.-])(?:${words.join('|').replaceAll('.', String.raw`\.`)})(?!\w)`, 'i');
  const found = sources.flatMap(({ folder, text }) => (named.test(text) ? folder : []));
  expect([...new Set(found)].toSorted()).toEqual(folders);
});
