/** Text that steers a terminal, turns, hides or ends a line: one example of each kind. */
export const HOSTILE_TEXT = [
  'x\u001b[31mred\u001b]0;title\u0007',
  '\u009b2Jc1\u0085\u0090q\u009c',
  '\u007f\b\r',
  '\u202egpj.exe\u2066i\u2069\u200e\u200f\u061c',
  'ad\u200bm\u200di\u200cn\ufeff\u2060\u00ad',
  '\u2028l\u2029p',
  '\u{e0041}\u{e0042}',
  'a\ufe01\ufe02\u{e0101}',
  'end',
].join('');
/** Lines as the tool or the log would write them. */
export const FORGED_LINES = 'one\nforged: two\r\nforged: three\u2028forged: four\rforged: five';

/** Characters that must not reach a terminal or a log. */
const UNSAFE =
  /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u2060-\u2064\ufeff\u{e0000}-\u{e0fff}]|[\u200b-\u200d]|[\ufe00-\ufe0f]/u;

/** The unsafe characters that an output shows with the text around them; undefined if there are none. */
export function unsafeIn(output: string): string | undefined {
  const found = UNSAFE.exec(output);
  if (found === null) return undefined;
  return `${found[0].codePointAt(0)?.toString(16)} in ${JSON.stringify(output.slice(Math.max(0, found.index - 60), found.index + 20))}`;
}

/** The lines that an output shows as if the tool had written them. */
export function forgedIn(output: string): readonly string[] {
  return output.split(/\n/).filter((line) => line.startsWith('forged'));
}
