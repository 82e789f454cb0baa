/** A TypeScript block of a document. */
export interface Snippet {
  readonly document: string;
  /** Number of its first line in the document, from 1. */
  readonly line: number;
  readonly code: string;
  /** True if the block runs, and its documented output; `undefined` if the document shows none. */
  readonly runs: boolean;
  readonly prints: readonly string[] | undefined;
}

/** The blocks of a document that are marked `ts`, or `ts run`. */
export function snippetsOf(document: string, markdown: string): Snippet[] {
  return Array.from(markdown.matchAll(/^```ts( run)?\n(.*?)^```$/gms), (block) => {
    const code = block[2] ?? '';
    const prints = Array.from(code.matchAll(/^\/\/ → (.*)$/gm), ([, line]) => line ?? '');
    return {
      document,
      line: markdown.slice(0, block.index).split('\n').length + 1,
      code,
      runs: block[1] !== undefined,
      prints: prints.length === 0 ? undefined : prints,
    };
  });
}
