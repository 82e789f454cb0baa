import fc from 'fast-check';
import { arbitraryJson } from './arbitrary-model.js';

/** A mutation of one place, and the path to it: one member per level. */
const arbitraryMutation = fc.record({
  path: fc.array(fc.nat({ max: 20 }), { maxLength: 7 }),
  kind: fc.constantFrom('replace', 'remove', 'add', 'rename', 'repeat'),
  junk: fc.oneof(
    arbitraryJson,
    fc.constantFrom<unknown>(
      '',
      '\ud800',
      'a\udc00',
      0,
      -1,
      1.5,
      101,
      3e9,
      Number.POSITIVE_INFINITY,
      null,
      true,
      {},
      [],
      [null],
      [{}],
      '=',
      'aa',
      '5',
    ),
  ),
  name: fc.constantFrom(
    'kind',
    'text',
    'raw',
    'data',
    'url',
    'id',
    'task_id',
    '__proto__',
    'constructor',
    '\ud800',
    'x',
    'parts',
  ),
});

/** Values of an arbitrary, each changed at some random places. */
export function mutateValues(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(values, fc.array(arbitraryMutation, { minLength: 1, maxLength: 3 }))
    .map(([value, mutations]) =>
      mutations.reduce((current, mutation) => mutate(current, mutation.path, mutation), value),
    );
}

type Mutation = typeof arbitraryMutation extends fc.Arbitrary<infer T> ? T : never;

function mutate(value: unknown, path: readonly number[], mutation: Mutation): unknown {
  if (typeof value !== 'object' || value === null) return mutation.junk;
  const entries: (readonly [string, unknown])[] = Object.entries(value);
  const index = entries.length === 0 ? 0 : (path[0] ?? 0) % entries.length;
  const entry = entries[index];
  if (path.length > 1 && entry !== undefined) {
    entries[index] = [entry[0], mutate(entry[1], path.slice(1), mutation)];
  } else {
    apply(entries, index, mutation);
  }
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

function apply(entries: (readonly [string, unknown])[], index: number, { kind, junk, name }: Mutation): void {
  const entry = entries[index];
  if (kind === 'add' || entry === undefined) entries.push([name, junk]);
  else if (kind === 'replace') entries[index] = [entry[0], junk];
  else if (kind === 'remove') entries.splice(index, 1);
  else if (kind === 'rename') entries[index] = [name, entry[1]];
  else entries.push([name, entry[1]]);
}
