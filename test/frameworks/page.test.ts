import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

type Cell =
  | 'right'
  | { readonly fault?: string; readonly shows?: object; readonly why?: string; readonly none?: string };
type Table = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Cell>>>>>>;
interface Peer {
  readonly name: string;
  readonly ways: readonly string[];
}
type CasesOf = (way: string) => Readonly<Record<string, { read(result: object): object }>>;

const part = async (name: string) => await import(new URL(name, import.meta.url).href);
const { PAGE, currentPage } = (await part('page.mjs')) as { PAGE: string; currentPage(page: string): string };
const { faultsOfTable, misfit } = (await part('judge.mjs')) as {
  faultsOfTable(table: Table, peers: readonly Peer[], casesOf: CasesOf): string[];
  misfit(cell: Cell, reading: object): string | undefined;
};
const { table } = (await part('table.mjs')) as { table: Table };
const { peers } = (await part('peers.mjs')) as { peers: readonly Peer[] };
const { casesOf } = (await part('cases.mjs')) as { casesOf: CasesOf };
const { CHUNKS, WHOLE } = (await part('texts.mjs')) as { CHUNKS: readonly string[]; WHOLE: string };

describe('the table of frameworks', () => {
  it('has a cell for every peer, way and case', () => {
    expect(faultsOfTable(table, peers, casesOf)).toEqual([]);
  });

  it('stands in the page as the suite has it (node test/frameworks/page.mjs)', () => {
    const page = readFileSync(PAGE, 'utf8');
    expect(page).toBe(currentPage(page));
  });

  it('is at fault for a missing cell, an unknown peer, way or case, and a fault without its look', () => {
    const some = [{ name: 'one', ways: ['serve'] }];
    const right = Object.fromEntries(Object.keys(casesOf('serve')).map((name) => [name, 'right' as const]));
    expect(faultsOfTable({ one: { serve: right } }, some, casesOf)).toEqual([]);
    const { text: _, ...lacking } = right;
    expect(faultsOfTable({ one: { serve: lacking } }, some, casesOf)).toEqual([
      'one, serve, text: the table has no cell',
    ]);
    expect(faultsOfTable({ one: { serve: right }, two: {} }, some, casesOf)).toHaveLength(1);
    expect(faultsOfTable({ one: { serve: right, call: {} } }, some, casesOf)).toHaveLength(1);
    expect(faultsOfTable({ one: { serve: { ...right, sing: 'right' } } }, some, casesOf)).toHaveLength(1);
    const vague = { fault: 'framework', shows: {}, why: 'It is so.' };
    expect(faultsOfTable({ one: { serve: { ...right, text: vague } } }, some, casesOf)).toHaveLength(1);
  });
});

describe('the judge', () => {
  const stream = casesOf('session').stream;
  const read = (text: string) => stream?.read({ text });
  const whole = CHUNKS.join('');

  it('names the way in which a text is wrong', () => {
    expect(read(whole)).toEqual({});
    expect(read('')).toEqual({ text: 'nothing' });
    expect(read(CHUNKS.at(-1) ?? '')).toEqual({ text: 'last chunk' });
    expect(read(whole + whole)).toEqual({ text: '2 times' });
    expect(read(CHUNKS.join(' '))).toEqual({ text: 'joined by " "' });
    expect(read([...CHUNKS, whole].join('\n'))).toEqual({ text: 'chunks joined by "\\n", then the whole' });
    expect(read([...CHUNKS.slice(0, -1), whole].join(''))).toEqual({ text: 'chunks, then the whole' });
    expect(casesOf('session').text?.read({ text: `${WHOLE}\n` })).toEqual({ text: 'other blanks at its ends' });
  });

  it('refuses a wrong result of a right cell, and a known fault that looks otherwise or is gone', () => {
    const known = { fault: 'framework', shows: { text: 'nothing' }, why: 'It is so.' };
    expect(misfit('right', {})).toBeUndefined();
    expect(misfit('right', { text: 'nothing' })).toBe('expected right, got {"text":"nothing"}');
    expect(misfit(known, { text: 'nothing' })).toBeUndefined();
    expect(misfit(known, { text: 'last chunk' })).toBeDefined();
    expect(misfit(known, {})).toBe('expected {"text":"nothing"}, got right');
  });
});
