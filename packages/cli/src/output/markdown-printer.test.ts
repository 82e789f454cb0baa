import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MarkdownTerminal } from './markdown-inline.js';
import { MarkdownPrinter } from './markdown-printer.js';

const printedOn = (terminal: MarkdownTerminal, ...chunks: readonly string[]) => {
  const printer = new MarkdownPrinter(terminal);
  return chunks.map((chunk) => printer.push(chunk)).join('') + printer.end();
};
const print = (...chunks: readonly string[]) => printedOn({}, ...chunks);
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
  expect(print(text)).toBe(styled);
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
])('%j is no Markdown and is unchanged', (text) => expect(print(text)).toBe(text));

it('prints the same for any chunks of a text', () => {
  const marks = fc.constantFrom('**', '*', '`', '```', '\n', '# ', '- ', '> ', ' ', 'a', 'word', '1. ', '.');
  const links = fc.constantFrom(
    '[',
    '](',
    ']',
    ')',
    '!',
    'https://x.y',
    '[a](https://x.y)',
    '|',
    '|-|\n',
    '\n| a | b |\n',
  );
  fc.assert(
    fc.property(fc.array(fc.array(fc.oneof(marks, links), { maxLength: 6 }), { maxLength: 12 }), (chunks) => {
      const texts = chunks.map((pieces) => pieces.join(''));
      expect(printedOn({ links: true }, ...texts)).toBe(printedOn({ links: true }, texts.join('')));
    }),
  );
});

it('prints a megabyte of markers without delay', () => {
  const links = ['[', '![', '[]', '[a](', '[a](https://', '|', '|\n', '| a ', '| a |\n|---|\n', '|-'];
  for (const marker of ['*', '`', '#', ' ', '>', '1', '\n', '- ', ...links]) {
    const began = performance.now();
    print(marker.repeat(1_000_000 / marker.length));
    expect(performance.now() - began).toBeLessThan(5000);
  }
});

const link = (url: string, text: string) => `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;

describe('a link', () => {
  it.each([
    ['see [the docs](https://x.y/a?b=1%20c#d).', `see ${link('https://x.y/a?b=1%20c#d', 'the docs')}.`],
    ['[**bold** one](https://x.y/(a)) (b)', `${link('https://x.y/(a)', `${BOLD}bold${RESET} one`)} (b)`],
    ['![a chart](https://x.y/c.png "Chart")', link('https://x.y/c.png', 'a chart')],
    ['**[a](https://x.y)**', `${BOLD}${link('https://x.y', 'a')}${RESET}`],
    ['[https://x.y](https://x.y)', link('https://x.y', 'https://x.y')],
  ])('%j is one of the terminal', (text, shown) => expect(printedOn({ links: true }, text)).toBe(shown));

  it('shows its address if the terminal has no links', () => {
    expect(print('see [the docs](https://x.y) and [https://x.y](https://x.y)')).toBe(
      'see the docs (https://x.y) and https://x.y',
    );
  });

  it.each([
    ['[https://bank.example](https://evil.example)', 'https://bank.example (https://evil.example)'],
    ['[bank.example/login](https://evil.example)', 'bank.example/login (https://evil.example)'],
    ['[ada@bank.example](mailto:eve@evil.example)', 'ada@bank.example (mailto:eve@evil.example)'],
  ])('%j does not hide that it leads elsewhere', (text, shown) => expect(printedOn({ links: true }, text)).toBe(shown));

  it.each([
    '[run](javascript:alert(1))',
    '[file](file:///etc/passwd)',
    '[a](ssh://x.y)',
    '[](https://x.y)',
    '[a] (https://x.y)',
    '[1] and [2]',
    'list[0](x)',
    'wow! [',
    '[open](https://x.y',
  ])('%j is none', (text) => expect(printedOn({ links: true }, text)).toBe(text));

  it('is unchanged in code', () => {
    expect(printedOn({ links: true }, '`[a](https://x.y)`')).toBe(`${CODE}[a](https://x.y)${RESET}`);
  });
});

describe('a table', () => {
  const table = '| Tea | Price |\n|:----|------:|\n| **Assam** | 3.20 |\n| 緑茶 | 12 |\n';

  it('has columns by the width of characters on a terminal', () => {
    const lines = [
      `${BOLD}Tea${RESET}    ${BOLD}Price${RESET}`,
      '─────  ─────',
      `${BOLD}Assam${RESET}   3.20`,
      '緑茶      12',
    ];
    expect(print(`before\n${table}after`)).toBe(`before\n${lines.join('\n')}\nafter`);
    expect(print(table.trimEnd())).toBe(lines.join('\n'));
  });

  it('is a list of its rows if the terminal is narrower', () => {
    const [tea, price] = [`${BOLD}Tea${RESET}`, `${BOLD}Price${RESET}`];
    expect(printedOn({ columns: 11 }, `${table}\nafter`)).toBe(
      `${tea}: ${BOLD}Assam${RESET}\n${price}: 3.20\n\n${tea}: 緑茶\n${price}: 12\n\nafter`,
    );
  });

  it('ignores cells beyond its head, and keeps escaped bars as text', () => {
    expect(print('| a |\n|--|\n| x \\| y | z |\n||\n')).toBe(`${BOLD}a${RESET}\n─────\nx | y\n\n`);
  });

  it('needs a delimiter line below its head', () => {
    expect(print('| a | b |\n| c | *d* |\nend')).toBe(`| a | b |\n| c | ${ITALIC}d${RESET} |\nend`);
    expect(print('| a | b')).toBe('| a | b');
  });

  it('is not padded far beyond the length of its text', () => {
    const wide = `| ${'h'.repeat(60_000)} | ${'|'.repeat(1000)}\n|${'-|'.repeat(900)}\n${'|a|\n'.repeat(500)}`;
    expect(print(wide).length).toBeLessThan(200_000);
  });
});
