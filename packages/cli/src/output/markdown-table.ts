import { MarkdownInline, type MarkdownTerminal } from './markdown-inline.js';

const LONGEST_LABEL = 40;
/** Characters of two columns: East Asian ones and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6])|\ufe0f/u;
/** Made at its first use, because that takes 18 ms. */
let letters: Intl.Segmenter | undefined;

/** A cell with its styles, and its width in columns. */
interface Cell {
  readonly shown: string;
  readonly width: number;
}

/** True for the line between the head and the rows of a table. */
export function isDelimiter(line: string): boolean {
  const cells = cellsOf(line);
  return cells.length > 0 && cells.every((text) => /^:?-+:?$/.test(text));
}

/**
 * Formats the lines of a Markdown table in columns: a head, a delimiter and rows. Every line of the result has a line
 * end. A table wider than the terminal becomes a list of its rows.
 */
export function layOutTable(
  [head = '', delimiter = '', ...rows]: readonly string[],
  terminal: MarkdownTerminal,
): string {
  const titles = cellsOf(head).map((text) => cell(text, terminal, true));
  const body = rows.map((row) =>
    cellsOf(row)
      .slice(0, titles.length)
      .map((text) => cell(text, terminal)),
  );
  const isRight = cellsOf(delimiter).map((text) => /^-+:$/.test(text));
  const widths = titles.map(({ width }, column) =>
    body.reduce((widest, row) => Math.max(widest, row[column]?.width ?? 0), width),
  );
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  if (total > (terminal.columns || 80)) return listOf(cellsOf(head), body, terminal);
  const line = (row: readonly Cell[]) => {
    const padded = row.map(({ shown, width }, column) => {
      const room = ' '.repeat((widths[column] ?? 0) - width);
      if (isRight[column] === true) return room + shown;
      return column === row.length - 1 ? shown : shown + room;
    });
    return `${padded.join('  ')}\n`;
  };
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return `${line(titles)}${rule}\n${body.map(line).join('')}`;
}

/** Formats each row as lines with the column titles, and a blank line between rows. */
function listOf(heads: readonly string[], body: readonly (readonly Cell[])[], terminal: MarkdownTerminal): string {
  // Titles are repeated in every row, so long ones are cut.
  const titles = heads.map((text) => cell(Array.from(text).slice(0, LONGEST_LABEL).join(''), terminal, true).shown);
  const lines = (row: readonly Cell[]) => row.map(({ shown }, column) => `${titles[column]}: ${shown}\n`).join('');
  return body.length === 0 ? `${titles.join('  ')}\n` : body.map(lines).join('\n');
}

/** Returns the texts between the bars of a line. A bar after a backslash is text. */
function cellsOf(line: string): readonly string[] {
  const cells = line
    .trim()
    .replace(/^\|/, '')
    .split(/(?<!\\)\|/);
  if (cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((text) => text.trim().replaceAll('\\|', '|'));
}

function cell(text: string, terminal: MarkdownTerminal, isTitle = false): Cell {
  const inline = new MarkdownInline(terminal);
  if (isTitle) inline.strengthen();
  for (const char of text) inline.push(char);
  inline.endLine();
  const shown = inline.take();
  return { shown, width: widthOf(shown) };
}

/** Returns the width of a text in columns, without the styles and links of the tool. */
function widthOf(shown: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the tool itself writes.
  const text = shown.replace(/\x1b\[[\d;]*m|\x1b\]8;;[^\x1b]*\x1b\\/g, '');
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  letters ??= new Intl.Segmenter();
  let width = 0;
  for (const { segment } of letters.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
