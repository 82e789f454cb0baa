import { describe, expect, it } from 'vitest';
import { printableLine, printableText } from './printable-text.js';

const code = (text: string) =>
  Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe('becomes an escape', () => {
  it.each([
    ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
    ['a control sequence of one character', '\u009b31m', '\\u009b31m'],
    ['a next line', 'a\u0085b', 'a\\u0085b'],
    ['a line separator', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['a lone carriage return', 'real\rforged', 'real\\u000dforged'],
    ['a bell, a backspace and a delete', '\u0007\b\u007f', '\\u0007\\u0008\\u007f'],
    ['overrides of direction', '\u202efdp\u2066.exe\u2069', '\\u202efdp\\u2066.exe\\u2069'],
    ['marks of direction', '\u200e\u200f\u061c', '\\u200e\\u200f\\u061c'],
    ['blanks without width', 'ad\u200bmin\ufeff', 'ad\\u200bmin\\ufeff'],
    ['joiners in Latin text', 'ad\u200dm\u200cin', 'ad\\u200dm\\u200cin'],
    ['a soft hyphen and an invisible letter', 'a\u00adb\u3164', 'a\\u00adb\\u3164'],
    ['hidden text in tags', 'a\u{e0041}', 'a\\udb40\\udc41'],
    ['a selector in Latin text', 'a\ufe0f1\ufe0f', 'a\\ufe0f1\\ufe0f'],
    ['bytes hidden in selectors', '😀\ufe01\ufe02\u{e0101}', '😀\ufe01\\ufe02\\udb40\\udd01'],
    ['half of a pair', 'a\ud83d', 'a\\ud83d'],
    ['annotations', 'a\ufff9b', 'a\\ufff9b'],
  ])('%s', (_name, text, expected) => {
    expect(printableText(text)).toBe(expected);
  });

  it('every control character but tab and line feed', () => {
    for (let one = 0; one < 0xa0; one += 1) {
      const text = String.fromCharCode(one);
      const stays = text === '\n' || text === '\t' || (one >= 0x20 && one < 0x7f);
      expect(printableText(text)).toBe(stays ? text : code(text));
    }
  });
});

it.each([
  ['emoji', '👩‍🔬 ❤️ ❤️‍🔥 🏳️‍🌈 1️⃣ 👍🏽 ☂︎ 👨🏽‍🚀'],
  ['scripts that join letters', 'می‌خواهم क्‍ष ශ්‍රී'],
  ['ideographs with a form', '葛\u{e0100}'],
  ['text in other scripts', 'שלום مرحبا 你好 Ελληνικά Ünïcödé'],
  ['lines and tabs', 'a\n\tb'],
])('%s stay', (_name, text) => {
  expect(printableText(text)).toBe(text);
});

it('JSON stays the same JSON', () => {
  const value = { 'a\u202e': ['\u009b\u2028\ufeff\\\u200b"', '👩‍🔬\ud83d', '\r\n'] };
  const shown = printableText(JSON.stringify(value, undefined, 2));
  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).not.toMatch(/[\u009b\u2028\ufeff\u200b\u202e]/);
});

it('text in pieces joins across them', () => {
  expect(printableText('\u200d🔬', '👩')).toBe('\u200d🔬');
  expect(printableText('\u200d🔬', 'x')).toBe('\\u200d🔬');
});

it('a line has no line ends', () => {
  expect(printableLine('a\r\n  b\tc\u2028d  e')).toBe('a b c\\u2028d  e');
});
