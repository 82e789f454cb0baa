import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MarkdownPrinter } from './markdown-printer.js';

const printed = (...chunks: readonly string[]) => {
  const printer = new MarkdownPrinter();
  return chunks.map((chunk) => printer.push(chunk)).join('') + printer.end();
};
const [BOLD, ITALIC, CODE, RESET] = ['\x1b[0;1m', '\x1b[0;3m', '\x1b[0;36m', '\x1b[0m'];

it.each([
  ['**bold** and *slanted*', `${BOLD}bold${RESET} and ${ITALIC}slanted${RESET}`],
  ['run `npm **test**` now', `run ${CODE}npm **test**${RESET} now`],
  ['# Title\ntext', `${BOLD}Title${RESET}\ntext`],
  ['- one\n  * two\n12. three', '• one\n  • two\n12. three'],
  ['> said', '│ said'],
  ['```ts\nconst a = 2 ** 3;\n```\nafter', `\x1b[36mconst a = 2 ** 3;${RESET}\nafter`],
  ['**open\nnext', `${BOLD}open${RESET}\nnext`],
])('%j becomes styled', (text, styled) => {
  expect(printed(text)).toBe(styled);
});

it.each([
  '2 * 3 * 4 = 24',
  'rm *.ts **/*.js',
  'snake_case_name',
  'a*b*c',
  '#hashtag',
  '-1 degree',
  '***',
  'C# and F#',
  '1.5',
])('%j is no Markdown and stays as it is', (text) => expect(printed(text)).toBe(text));

it('prints the same, however the text is cut', () => {
  const piece = fc.constantFrom('**', '*', '`', '```', '\n', '# ', '- ', '> ', ' ', 'a', 'word', '1. ', '.');
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 12 }), (chunks) => {
      const texts = chunks.map((pieces) => pieces.join(''));
      expect(printed(...texts)).toBe(printed(texts.join('')));
    }),
  );
});

it('prints a megabyte of markers without delay', () => {
  for (const marker of ['*', '`', '#', ' ', '>', '1', '\n', '- ']) {
    const began = performance.now();
    printed(marker.repeat(1_000_000 / marker.length));
    expect(performance.now() - began).toBeLessThan(5000);
  }
});
