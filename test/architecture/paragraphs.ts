import ts from 'typescript';
import { parseSource } from './source-tree.js';

/** One paragraph, list item or table cell. */
export interface Paragraph {
  /** Its first line in the file, from 1. */
  readonly line: number;
  /** One line of text; a code span, a link target or a url is one word. */
  readonly text: string;
}

const DIRECTIVE = /^(?:biome-ignore|@ts-|\/ <|#|eslint|@vitest)/;

/** The paragraphs of all comments of a TypeScript or JavaScript file, without directives to tools. */
export function commentParagraphs(path: string, text: string): Paragraph[] {
  return commentBlocks(path, text).flatMap(({ line, lines }) =>
    DIRECTIVE.test(lines[0]?.trim() ?? '')
      ? []
      : markdownParagraphs(lines.join('\n'), { firstLine: line, isComment: true }),
  );
}

/** Comments as lines without their marks. `//` comments on lines that follow each other are one comment. */
function commentBlocks(path: string, text: string): { line: number; lines: string[] }[] {
  const source = parseSource(path, text);
  const blocks: { line: number; lines: string[]; last: number; startsLine: boolean }[] = [];
  for (const [pos, end] of commentRanges(source)) {
    const line = source.getLineAndCharacterOfPosition(pos).line + 1;
    const startsLine = text.startsWith('//', pos) && text.slice(text.lastIndexOf('\n', pos) + 1, pos).trim() === '';
    const lines = text.startsWith('//', pos)
      ? [text.slice(pos, end).replace(/^\/\/ ?/, '')]
      : text
          .slice(pos + 2, end - 2)
          .split('\n')
          .map((part) => part.replace(/^\s*\*+ ?/, ''));
    const before = blocks.at(-1);
    if (startsLine && before?.startsLine === true && before.last === line - 1) {
      before.lines.push(...lines);
      before.last = line;
    } else blocks.push({ line, lines, last: line, startsLine });
  }
  return blocks;
}

/** Start and end of the comments of a file. Two slashes in a string, template or regular expression are no comment. */
function commentRanges(source: ts.SourceFile): (readonly [pos: number, end: number])[] {
  const { text } = source;
  const literals = literalRanges(source);
  const found: (readonly [number, number])[] = [];
  const mark = /\/[/*]/g;
  for (let hit = mark.exec(text), next = 0; hit !== null; hit = mark.exec(text)) {
    while ((literals[next]?.[1] ?? Number.POSITIVE_INFINITY) <= hit.index) next++;
    const literal = literals[next];
    if (literal !== undefined && literal[0] <= hit.index) {
      mark.lastIndex = literal[1];
      continue;
    }
    const [closing, width] = hit[0] === '//' ? ['\n', 0] : ['*/', 2];
    const at = text.indexOf(closing, hit.index + 2);
    mark.lastIndex = at < 0 ? text.length : at + width;
    found.push([hit.index, mark.lastIndex]);
  }
  return found;
}

function literalRanges(source: ts.SourceFile): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText) ranges.push([node.getStart(source), node.end]);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return ranges;
}

/** The paragraphs, list items and table cells of a Markdown text, without its headings and code blocks. */
export function markdownParagraphs(markdown: string, { firstLine = 1, isComment = false } = {}): Paragraph[] {
  const paragraphs: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | undefined;
  let fence: string | undefined;
  for (const [index, whole] of markdown.split('\n').entries()) {
    const line = firstLine + index;
    const text = whole.trim();
    const mark = /^(?:```|~~~)/.exec(text)?.[0];
    if (mark !== undefined) {
      fence = fence === undefined ? mark : fence === mark ? undefined : fence;
      open = undefined;
    } else if (fence !== undefined) continue;
    else if (text === '' || (/^#{1,6} /.test(text) && !isComment) || (/^ {4}/.test(whole) && open === undefined))
      open = undefined;
    else if (text.startsWith('|')) {
      open = undefined;
      for (const cell of cellsOf(text)) paragraphs.push({ line, text: cell });
    } else {
      const item = /^(?:[-*]|\d+\.) +(.*)/.exec(text)?.[1] ?? /^@\w+(?: +\w+ +[-–])? *(.*)/.exec(text)?.[1];
      if (item === undefined && open !== undefined) open.text += ` ${text}`;
      else {
        open = { line, text: item ?? text };
        paragraphs.push(open);
      }
    }
  }
  return paragraphs.map(({ line, text }) => ({ line, text: asProse(text) })).filter(({ text }) => text !== '');
}

function cellsOf(row: string): string[] {
  if (/^[|\s:-]+$/.test(row)) return [];
  return row
    .replace(/\\\|/g, '/')
    .replace(/`[^`]*`/g, (span) => span.replaceAll('|', '/'))
    .split('|')
    .map((cell) => cell.trim());
}

function asProse(text: string): string {
  return text
    .replace(/\{@link ([^}]*)\}/g, '`$1`')
    .replace(/(`+)[^`]+?\1(?:\([^)]*\))?/g, '`code`')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+?(?=[.,;:)]?(?:\s|$))/g, '`url`')
    .replace(/\*\*/g, '')
    .trim();
}
