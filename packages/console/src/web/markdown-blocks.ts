/** A block of Markdown. Texts in it may hold inline markup. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'rule' };

const HEADING = /^ {0,3}(#{1,6})\s+(\S.*)$/;
const FENCE = /^ {0,3}(`{3,9}|~{3,9})([^`]*)$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,60}|(?:-[ \t]*){3,60}|(?:_[ \t]*){3,60})$/;
const ITEM = /^( {0,8})(?:([-*+])|(\d{1,9})[.)]) +(\S.*|)$/;
const TABLE_LINE = /^[\s|:-]{3,400}$/;

/** Lines that are read one after the other. */
class Lines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.replaceAll('\r\n', '\n').split('\n');
  }

  get current(): string | undefined {
    return this.#lines[this.#at];
  }

  get following(): string | undefined {
    return this.#lines[this.#at + 1];
  }

  step(): void {
    this.#at += 1;
  }
}

/** Parses the blocks of a text. A block without its end, as in a stream, ends with the text. */
export function blocksOf(text: string): readonly Block[] {
  const lines = new Lines(text);
  const blocks: Block[] = [];
  for (let line = lines.current; line !== undefined; line = lines.current) {
    if (line.trim() === '') lines.step();
    else blocks.push(blockAt(line, lines));
  }
  return blocks;
}

function blockAt(line: string, lines: Lines): Block {
  const heading = HEADING.exec(line);
  if (heading !== null) {
    lines.step();
    return { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' };
  }
  const fence = FENCE.exec(line);
  if (fence !== null) return codeAt(fence[1] ?? '```', fence[2]?.trim() ?? '', lines);
  if (RULE.test(line)) {
    lines.step();
    return { kind: 'rule' };
  }
  if (isQuote(line)) return quoteAt(lines);
  if (ITEM.test(line)) return listAt(lines);
  if (isTable(line, lines.following)) return tableAt(lines);
  return paragraphAt(lines);
}

function codeAt(fence: string, language: string, lines: Lines): Block {
  const text: string[] = [];
  lines.step();
  for (let line = lines.current; line !== undefined; line = lines.current) {
    lines.step();
    if (line.trim().startsWith(fence) && line.trim().replaceAll(fence.charAt(0), '') === '') break;
    text.push(line);
  }
  return { kind: 'code', language: language.split(' ')[0] ?? '', text: text.join('\n') };
}

function isQuote(line: string): boolean {
  return line.trimStart().startsWith('>');
}

function quoteAt(lines: Lines): Block {
  const text: string[] = [];
  for (let line = lines.current; line !== undefined && isQuote(line); line = lines.current) {
    text.push(line.trimStart().replace(/^> ?/, ''));
    lines.step();
  }
  return { kind: 'quote', text: text.join('\n') };
}

/** An item ends before the next item of the same depth. Deeper lines belong to the item. */
function listAt(lines: Lines): Block {
  const first = ITEM.exec(lines.current ?? '');
  const depth = first?.[1]?.length ?? 0;
  const start = first?.[3] === undefined ? undefined : Number(first[3]);
  const items: string[][] = [];
  for (let line = lines.current; line !== undefined; line = lines.current) {
    const item = ITEM.exec(line);
    const indent = line.length - line.trimStart().length;
    if (item !== null && indent <= depth + 1) {
      if ((item[3] === undefined) !== (start === undefined)) break;
      items.push([item[4] ?? '']);
    } else if (line.trim() === '') {
      const next = lines.following;
      const goesOn = next !== undefined && (ITEM.test(next) || next.startsWith(' '.repeat(depth + 2)));
      if (!goesOn) break;
      items.at(-1)?.push('');
    } else if (indent > depth || !startsBlock(line)) items.at(-1)?.push(line.slice(Math.min(indent, depth + 2)));
    else break;
    lines.step();
  }
  return { kind: 'list', start, items: items.map((item) => item.join('\n')) };
}

function isTable(line: string, next: string | undefined): boolean {
  return line.includes('|') && next?.includes('-') === true && next.includes('|') && TABLE_LINE.test(next);
}

function tableAt(lines: Lines): Block {
  const head = cellsOf(lines.current ?? '');
  lines.step();
  lines.step();
  const rows: (readonly string[])[] = [];
  for (let line = lines.current; line?.includes('|') === true && line.trim() !== ''; line = lines.current) {
    rows.push(cellsOf(line).slice(0, head.length));
    lines.step();
  }
  return { kind: 'table', head, rows };
}

function cellsOf(line: string): readonly string[] {
  const cells = line.trim().replaceAll('\\|', '\u0000').split('|');
  if (cells[0] === '') cells.shift();
  if (cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) => cell.trim().replaceAll('\u0000', '|'));
}

function startsBlock(line: string): boolean {
  return HEADING.test(line) || FENCE.test(line) || RULE.test(line) || isQuote(line) || ITEM.test(line);
}

function paragraphAt(lines: Lines): Block {
  const text: string[] = [];
  for (let line = lines.current; line !== undefined && line.trim() !== ''; line = lines.current) {
    if (text.length > 0 && startsBlock(line)) break;
    text.push(line);
    lines.step();
  }
  return { kind: 'paragraph', text: text.join('\n') };
}
