import { commentParagraphs, markdownParagraphs, type Paragraph } from './paragraphs.js';
import type { Violation } from './source-tree.js';

/** Writers aim at 20 words; a sentence that names many things may have a few more. */
export const SENTENCE_WORDS = 25;
export const LINE_LENGTH = 120;
export const PROSE_LENGTH = 100;

/** Words that hide the actor, and words that newcomers cannot look up. */
const FORBIDDEN_WORDS = [
  'somebody|nobody|anybody|everybody|whoever|whomever|whosoever',
  '(?:the|every|any) one who|(?:he|those|they) who',
  'by chance|surroundings|stray errors?',
];
const FORBIDDEN = new RegExp(`\\b(?:${FORBIDDEN_WORDS.join('|')})\\b`, 'i');
const SOURCE = /\.(?:ts|mjs|js)$/;
const FORBIDDEN_FIRST = /^(?:What|Who|Whose|Where|How|Whether)\b/;
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|ca|Dr|St|No)\.|\b[A-Z]\.)$/;

/** Violations of the rules of plain writing in all sources and documents among the files. */
export function proseViolations(files: ReadonlyMap<string, string>): Violation[] {
  return Array.from(files).flatMap(([path, text]) => {
    if (path.endsWith('.md')) return documentViolations(path, text);
    return SOURCE.test(path) && !path.endsWith('.generated.ts') ? commentViolations(path, text) : [];
  });
}

/** Comments of a file that break a rule of plain writing, and lines that are too long. */
export function commentViolations(path: string, text: string): Violation[] {
  return [
    ...commentParagraphs(path, text).flatMap((paragraph) => paragraphViolations(path, paragraph)),
    ...longLines(path, text, limitOfSourceLine),
  ];
}

/** Sentences of a Markdown document that break a rule of plain writing, and lines that are too long. */
export function documentViolations(path: string, text: string): Violation[] {
  return [
    ...markdownParagraphs(text).flatMap((paragraph) => paragraphViolations(path, paragraph)),
    ...longLines(path, text, limitOfLine),
  ];
}

/** The formatter wraps code at the same length. Only literals are longer, and they cannot be wrapped. */
function limitOfSourceLine(line: string): number {
  return /^\s*(?:\/\/|\/\*|\*)/.test(line) ? LINE_LENGTH : Number.POSITIVE_INFINITY;
}

/** Code and tables cannot be wrapped. */
function limitOfLine(line: string, isCode: boolean): number {
  if (line.startsWith('|')) return Number.POSITIVE_INFINITY;
  if (isCode || /^(?: {4}|#)/.test(line)) return LINE_LENGTH;
  return PROSE_LENGTH;
}

function longLines(path: string, text: string, limit: (line: string, isCode: boolean) => number): Violation[] {
  let isCode = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    // A line without an inner space cannot be wrapped.
    const isOneWord = !/\S\s+\S/.test(line.replace(/^\s*(?:\/\/|\*|-|\d+\.)\s*/, ''));
    const isLong = Array.from(line).length > limit(line, isCode) && !isOneWord;
    return isLong ? [{ file: path, line: index + 1, problem: `the line has ${Array.from(line).length} columns` }] : [];
  });
}

function paragraphViolations(file: string, { line, text }: Paragraph): Violation[] {
  const sentences = sentencesOf(text);
  const problems = [
    ...sentences.flatMap((sentence) => {
      const words = wordsOf(sentence).length;
      return words > SENTENCE_WORDS ? [`a sentence of ${words} words: ${shorten(sentence)}`] : [];
    }),
    ...sentences
      .filter((sentence) => FORBIDDEN_FIRST.test(sentence) && !sentence.endsWith('?'))
      .map((sentence) => `begins with ${FORBIDDEN_FIRST.exec(sentence)?.[0]}: ${shorten(sentence)}`),
    ...sentences
      .filter((sentence) => FORBIDDEN.test(sentence))
      .map(
        (sentence) => `names no actor or no word of the field (${FORBIDDEN.exec(sentence)?.[0]}): ${shorten(sentence)}`,
      ),
  ];
  return problems.map((problem) => ({ file, line, problem }));
}

/** The sentences of a paragraph. A dot inside a name, a number or an abbreviation ends none. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const word of text.split(/\s+/)) {
    open = open === '' ? word : `${open} ${word}`;
    if (!/[.!?]["'”’)\]*_`]*$/.test(word) || ABBREVIATION.test(word)) continue;
    sentences.push(open);
    open = '';
  }
  return open === '' ? sentences : [...sentences, open];
}

function wordsOf(sentence: string): string[] {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

function shorten(sentence: string): string {
  return sentence.length > 60 ? `${sentence.slice(0, 60)}…` : sentence;
}
