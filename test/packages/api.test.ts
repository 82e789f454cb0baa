import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { outdatedApis, publicApis, reportFile, reportOf } from '../../scripts/api-report.mjs';

const folder = mkdtempSync(join(tmpdir(), 'api-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A package with these declarations. */
function packageWith(files: Readonly<Record<string, string>>): string {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  const exports = { '.': './dist/index.js', './more': { types: './dist/more.d.ts', default: './dist/more.js' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'lines', exports }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'dist', name), text);
  return folder;
}

const FILES = {
  'index.d.ts': `
    import type { Line } from './line.js';
    /** Writes. */
    export declare function write(line: Line): void;
    export declare const LIMIT = 7;
    export { Pen } from './pen.js';
    export * as Colors from './ink.js';`,
  'more.d.ts': `export { Pen } from './pen.js'; export type { Line as Drawn } from './line.js';`,
  'pen.d.ts': `
    import type { Ink } from './ink.js';
    export declare class Pen { #private; private spare; use(ink: Ink): void; readonly color: string; constructor(); }`,
  'line.d.ts': 'export interface Line { readonly length: number; readonly end?: End; } interface End { at: number }',
  'ink.d.ts': 'export type Ink = string; export type Gold = number;',
};

describe('the report of public types', () => {
  it('is that of the built types, for each package; if not: npm run api, and review the difference', () => {
    const files = outdatedApis().map(reportFile);
    expect(files, 'run `npm run api`, and review what it changes').toEqual([]);
  });

  it('has each declaration once, sorted, without comments and private members, and the types behind', () => {
    const [api] = publicApis([packageWith(FILES)]);
    expect(api && reportOf(api)).toBe(`Public types of lines, written by \`npm run api\`

=== lines ===

type Gold = number;
export { Gold as Colors.Gold };

type Ink = string;
export { Ink as Colors.Ink };

const LIMIT = 7

class Pen {
    constructor();
    readonly color: string;
    use(ink: Ink): void;
}

function write(line: Line): void;

=== lines/more ===

interface Line {
    readonly end?: End;
    readonly length: number;
}
export { Line as Drawn };

export { Pen } from 'lines';

=== not exported, but named above ===

interface End {
    at: number;
}
`);
  });

  it.each<[change: string, file: keyof typeof FILES, from: string, to: string]>([
    ['an optional member', 'line.d.ts', 'length:', 'length?:'],
    ['a type behind an exported one', 'line.d.ts', 'at: number', 'at: string'],
    ['a type in a namespace', 'ink.d.ts', 'Ink = string', 'Ink = string | Uint8Array'],
    ['a name that is gone', 'index.d.ts', 'export declare const', 'declare const'],
  ])('changes with %s', (_change, file, from, to) => {
    const [before] = publicApis([packageWith(FILES)]);
    if (before) writeFileSync(reportFile(before), reportOf(before));
    expect(outdatedApis(publicApis([folder]))).toEqual([]);
    const changed = publicApis([packageWith({ ...FILES, [file]: FILES[file].replace(from, to) })]);
    expect(outdatedApis(changed)).toEqual(changed);
  });
});
