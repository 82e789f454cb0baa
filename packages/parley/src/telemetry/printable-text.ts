/** Characters that control a terminal, change the direction of text, end a line, or are invisible. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]+/gu;
/** Variation selectors: they select the form of the character before them, such as that of an emoji. */
const SELECTOR = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u;
/**
 * The end of a text after which a selector or a joiner is legitimate: emoji, symbols, and scripts without upper case.
 */
const BASE = /(?![\0-\u007f])[\p{Lo}\p{M}\p{So}\p{Sm}\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
/** Keycaps such as 1️⃣, with the selector between the digit and the frame. */
const KEY = /[#*\d]$/;
const FRAME = '\u20e3';
/** Cache of escapes, by code unit. */
const ESCAPES: string[] = [];

/**
 * Makes untrusted text safe for terminals and logs. Characters that control a terminal, change the direction of text or
 * are invisible become escapes such as `\u001b`. Tabs and line feeds stay, and `\r\n` becomes `\n`. Joiners and
 * selectors stay within emoji and within the scripts that need them. The meaning of JSON does not change.
 * `before`: the end of the text written before, for text in pieces.
 */
export function printableText(text: string, before = ''): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, (run, start: number, whole: string) => {
    let shown = '';
    const outside = start === 0 ? before : whole.slice(Math.max(0, start - 2), start);
    for (let index = 0; index < run.length; index++) {
      const code = run.charCodeAt(index);
      if (mayBelong(code)) {
        const one = String.fromCodePoint(run.codePointAt(index) ?? code);
        const left = index === 0 ? outside : run.slice(Math.max(0, index - 2), index);
        index += one.length - 1;
        shown += belongs(one, left, whole[start + index + 1]) ? one : escapeCharacter(one);
      } else shown += code === 0x0a ? '\n' : code === 0x09 ? '\t' : unitEscape(code);
    }
    return shown;
  });
}

/** The same on one line: line ends and tabs become spaces. */
export function printableLine(text: string): string {
  return printableText(text).replaceAll(/\s+/g, (blanks) => (/[\n\t]/.test(blanks) ? ' ' : blanks));
}

/** True for a joiner, a selector, or the first half of one. */
function mayBelong(code: number): boolean {
  return code === 0x200c || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f) || code === 0xdb40;
}

function belongs(one: string, left: string, right: string | undefined): boolean {
  if (one === '\u200c' || one === '\u200d') return BASE.test(left);
  if (!SELECTOR.test(one) || SELECTOR.test(left)) return false;
  return BASE.test(left) || (right === FRAME && KEY.test(left));
}

function escapeCharacter(one: string): string {
  return Array.from({ length: one.length }, (_, at) => unitEscape(one.charCodeAt(at))).join('');
}

function unitEscape(code: number): string {
  const form = ESCAPES[code] ?? `\\u${code.toString(16).padStart(4, '0')}`;
  ESCAPES[code] = form;
  return form;
}
