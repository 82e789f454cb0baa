import { expect } from 'vitest';

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** One code block of a guide. `use`: the words after its language. */
export interface Step {
  readonly line: number;
  readonly language: string;
  readonly use: string;
  readonly code: string;
  /** The lines of output that the guide shows for the block. */
  readonly shown: readonly string[] | undefined;
}

export function stepsOf(markdown: string): Step[] {
  const blocks = Array.from(markdown.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms), (block) => ({
    line: markdown.slice(0, block.index).split('\n').length,
    language: block[1] ?? '',
    use: block[2] ?? '',
    code: block[3] ?? '',
  }));
  return blocks.flatMap((block, index) => {
    if (block.language === 'text') return [];
    const next = blocks[index + 1];
    return [{ ...block, shown: next?.language === 'text' ? next.code.trimEnd().split('\n') : undefined }];
  });
}

/** Replaces the port and the ids of the guide by those of this machine. */
export class Reader {
  readonly #port: string;
  readonly #ids = new Map<string, string>();

  constructor(port: string) {
    this.#port = port;
  }

  /** Returns a text of the guide with the values of this machine. */
  mine(text: string): string {
    return text.replaceAll('8080', this.#port).replace(ID, (id) => this.#ids.get(id) ?? id);
  }

  /**
   * Compares an output with the shown one. A line `…` stands for any lines, and `…` in a line for any text. Ids differ,
   * but consistently.
   */
  compare({ shown = [], line }: Step, output: string): void {
    const lines = output.trimEnd().split('\n');
    let at = 0;
    let skips = false;
    for (const wanted of shown) {
      if (wanted === '…') {
        skips = true;
        continue;
      }
      const found = lines.findIndex((candidate, index) => index >= at && this.#matches(wanted, candidate));
      const expected = skips ? found : at;
      expect(found >= 0 && found === expected, `line ${line}: ${JSON.stringify(wanted)} is not in\n${output}`).toBe(
        true,
      );
      at = found + 1;
      skips = false;
    }
    if (!skips) expect(lines.slice(at), `line ${line}: the output goes on`).toEqual([]);
  }

  #matches(wanted: string, candidate: string): boolean {
    const [theirs, ours] = [wanted.match(ID) ?? [], candidate.match(ID) ?? []];
    const pattern = wanted
      .replace(ID, 'id')
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+');
    const text = candidate.replace(ID, 'id').replaceAll(this.#port, '8080');
    if (!new RegExp(`^${pattern}$`).test(text)) return false;
    for (const [index, id] of theirs.entries()) this.#ids.set(id, this.#ids.get(id) ?? ours[index] ?? id);
    return theirs.every((id, index) => this.#ids.get(id) === ours[index]);
  }
}
