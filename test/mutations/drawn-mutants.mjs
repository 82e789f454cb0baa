// Lists what could be changed in the sources, and chooses the same mutants each time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { createInjector } from 'typed-inject';

/** A range with more mutants than this is no single change of a person. */
const MOST_IN_A_RANGE = 3;

const silent = new Proxy({}, { get: (_, name) => (String(name).startsWith('is') ? () => false : () => undefined) });

/** All mutants of the files, each with its 0-based place. */
export async function mutantsOf(root, paths, excludedMutations) {
  const instrumenter = createInstrumenter(createInjector().provideValue('logger', silent));
  const files = paths.map((name) => ({ name, content: readFileSync(join(root, name), 'utf8'), mutate: true }));
  const { mutants } = await instrumenter.instrument(files, {
    ...{ plugins: null, excludedMutations, ignorers: [], mutator: { plugins: null, excludedMutations } },
  });
  return mutants.map(({ fileName, location, mutatorName, replacement }) => ({
    ...{ path: fileName, location, mutatorName, replacement },
  }));
}

/** Ranges of the files that hold `count` mutants together: drawn by `seed`, without an overlap, small ones only. */
export function chooseRanges(mutants, count, seed) {
  const ranges = new Map();
  for (const { path, location } of mutants) ranges.set(rangeText(path, location), { path, location });
  const drawn = shuffled([...ranges.values()], seed);
  const chosen = [];
  let found = 0;
  for (const range of drawn) {
    if (found >= count) break;
    const within = mutants.filter(({ path, location }) => path === range.path && contains(range.location, location));
    const isFree = !chosen.some(({ path, location }) => path === range.path && overlaps(range.location, location));
    if (within.length > MOST_IN_A_RANGE || found + within.length > count || !isFree) continue;
    chosen.push(range);
    found += within.length;
  }
  return chosen.map(({ path, location }) => rangeText(path, location)).toSorted();
}

/** The form of the option `mutate`: lines from 1, columns from 0. */
function rangeText(path, { start, end }) {
  return `${path}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

function contains(outer, inner) {
  return isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);
}

function overlaps(a, b) {
  return isBefore(a.start, b.end) && isBefore(b.start, a.end);
}

function isBefore(a, b) {
  return a.line < b.line || (a.line === b.line && a.column <= b.column);
}

/** Fisher-Yates with a small generator of its own: the same order for a seed on every machine. */
function shuffled(values, seed) {
  const result = [...values];
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}
