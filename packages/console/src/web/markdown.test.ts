import { describe, expect, it } from 'vitest';
import { type Block, blocksOf } from './markdown-blocks.js';
import { followedUrl, type Inline, inlinesOf } from './markdown-inline.js';

const kinds = (text: string) => blocksOf(text).map(({ kind }) => kind);
const plain = (pieces: readonly Inline[]): string =>
  pieces.map((piece) => ('text' in piece ? piece.text : 'content' in piece ? plain(piece.content) : '\n')).join('');

describe('blocks', () => {
  it('of every kind', () => {
    const text = [
      '# Title',
      'A line\nand another',
      '- one\n- two\n  deeper',
      '3. three',
      '> said',
      '---',
      '| a | b |\n| - | - |\n| 1 | 2 |',
      '```js\ncode\n```',
    ].join('\n\n');
    expect(kinds(text)).toEqual(['heading', 'paragraph', 'list', 'list', 'quote', 'rule', 'table', 'code']);
  });

  it('a block whose end has not arrived ends with the text', () => {
    expect(blocksOf('```ts\nconst a')).toEqual([{ kind: 'code', language: 'ts', text: 'const a' }]);
    expect(blocksOf('| a |\n| - |\n| 1')).toEqual([{ kind: 'table', head: ['a'], rows: [['1']] }]);
  });

  it('items keep their deeper lines', () => {
    const [list] = blocksOf('- one\n  - inner\n- two') as [Extract<Block, { kind: 'list' }>];
    expect(list.items).toEqual(['one\n- inner', 'two']);
  });

  it('an ordered list begins with its number', () => {
    expect(blocksOf('7. seven\n8. eight')).toEqual([{ kind: 'list', start: 7, items: ['seven', 'eight'] }]);
  });

  it('a code block may hold a shorter fence', () => {
    expect(blocksOf('````\n```\n````')).toEqual([{ kind: 'code', language: '', text: '```' }]);
  });
});

describe('inline', () => {
  it('markup of every kind', () => {
    const pieces = inlinesOf('**a** *b* ~~c~~ `d` [e](https://e.example) ![f](https://f.example) https://g.example');
    expect(pieces.map(({ kind }) => kind).filter((kind) => kind !== 'text')).toEqual([
      'strong',
      'emphasis',
      'deleted',
      'code',
      'link',
      'image',
      'link',
    ]);
  });

  it.each(['a * b * c', 'snake_case_name', '2*3', '**open', '[open](', '`', '\\*plain\\*', '<b>tag</b>'])(
    'what is no markup is text: %s',
    (text) => {
      const pieces = inlinesOf(text);
      expect(pieces.every(({ kind }) => kind === 'text')).toBe(true);
      expect(plain(pieces)).toBe(text.replaceAll('\\', ''));
    },
  );

  it.each([
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a.example/1',
    '/console',
    '//evil.example',
  ])('no link leads to %s', (url) => {
    expect(followedUrl(url)).toBeUndefined();
    expect(inlinesOf(`[x](${url})`).some(({ kind }) => kind === 'link')).toBe(false);
  });

  it('the end of a sentence is no part of a link', () => {
    expect(inlinesOf('See https://a.example/b.')).toMatchObject([
      { text: 'See ' },
      { kind: 'link', url: 'https://a.example/b' },
      { text: '.' },
    ]);
  });
});

it.each([
  ['brackets', '[('],
  ['stars', '**a'],
  ['marks', '*_~`'],
  ['quotes', '> '],
  ['items', '- '],
  ['fences', '```\n'],
  ['bars', '|-'],
  ['links', '![a]('],
])('a long text of %s costs little', (_name, piece) => {
  const text = piece.repeat(20_000);
  const began = performance.now();
  for (const block of blocksOf(text)) if ('text' in block) inlinesOf(block.text);
  expect(performance.now() - began).toBeLessThan(5_000);
});
