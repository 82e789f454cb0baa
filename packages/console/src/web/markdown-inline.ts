/** A piece of a line of Markdown. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'strong' | 'emphasis' | 'deleted'; readonly content: readonly Inline[] }
  | { readonly kind: 'link'; readonly url: string; readonly content: readonly Inline[] }
  | { readonly kind: 'image'; readonly url: string; readonly text: string };

/** Maximum length of a text between two marks, which bounds the cost of unclosed marks. */
const LONGEST = 4_000;
const DEEPEST = 8;
const MARKS = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'deleted'],
  ['*', 'emphasis'],
  ['_', 'emphasis'],
] as const;
const SPECIAL = /[\\`*_~[!\n<h]/g;
const AUTOLINK = /https?:\/\/[^\s<>"'`]{1,2000}/y;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}]/u;
const SCHEMES: readonly string[] = ['http:', 'https:', 'mailto:'];

/** The url of a link that is allowed: http, https or mailto. Undefined for all others, such as `javascript:`. */
export function followedUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  return url !== null && SCHEMES.includes(url.protocol) ? url.href : undefined;
}

/** Parses the pieces of a text. Unclosed markup is text. */
export function inlinesOf(text: string, depth = 0): readonly Inline[] {
  const found: Inline[] = [];
  let plain = '';
  const add = (piece: Inline): void => {
    if (plain !== '') found.push({ kind: 'text', text: plain });
    plain = '';
    found.push(piece);
  };
  for (let at = 0; at < text.length; ) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(text)?.index ?? text.length;
    plain += text.slice(at, next);
    at = next;
    if (at >= text.length) break;
    const piece = depth < DEEPEST ? pieceAt(text, at, depth) : undefined;
    if (piece === undefined) {
      plain += text.charAt(at);
      at += 1;
    } else {
      if (piece.inline.kind === 'text') plain += piece.inline.text;
      else add(piece.inline);
      at = piece.end;
    }
  }
  if (plain !== '') found.push({ kind: 'text', text: plain });
  return found;
}

interface Piece {
  readonly inline: Inline;
  /** The place after it. */
  readonly end: number;
}

function pieceAt(text: string, at: number, depth: number): Piece | undefined {
  switch (text.charAt(at)) {
    case '\\': {
      const escaped = text.charAt(at + 1);
      return PUNCTUATION.test(escaped) ? { inline: { kind: 'text', text: escaped }, end: at + 2 } : undefined;
    }
    case '\n':
      return text.endsWith('  ', at) || text.charAt(at - 1) === '\\'
        ? { inline: { kind: 'break' }, end: at + 1 }
        : { inline: { kind: 'text', text: '\n' }, end: at + 1 };
    case '`':
      return codeAt(text, at);
    case '!':
      return text.charAt(at + 1) === '[' ? linkAt(text, at + 1, depth, true) : undefined;
    case '[':
      return linkAt(text, at, depth, false);
    case '<': {
      const link = autolinkAt(text, at + 1);
      return link !== undefined && text.charAt(link.end) === '>' ? { ...link, end: link.end + 1 } : undefined;
    }
    case 'h':
      return autolinkAt(text, at);
    default:
      return markedAt(text, at, depth);
  }
}

function codeAt(text: string, at: number): Piece | undefined {
  let length = 1;
  while (length < 9 && text.charAt(at + length) === '`') length += 1;
  const mark = '`'.repeat(length);
  const end = endOf(text, mark, at + length);
  if (end === undefined) return { inline: { kind: 'text', text: mark }, end: at + length };
  return { inline: { kind: 'code', text: text.slice(at + length, end).trim() }, end: end + length };
}

function markedAt(text: string, at: number, depth: number): Piece | undefined {
  for (const [mark, kind] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const start = at + mark.length;
    const isWithinWord = mark.startsWith('_') && at > 0 && WORD.test(text.charAt(at - 1));
    if (isWithinWord || /^\s?$/.test(text.charAt(start))) continue;
    const end = endOf(text, mark, start);
    if (end === undefined || end === start || /\s/.test(text.charAt(end - 1))) continue;
    if (mark.startsWith('_') && WORD.test(text.charAt(end + mark.length))) continue;
    return { inline: { kind, content: inlinesOf(text.slice(start, end), depth + 1) }, end: end + mark.length };
  }
  return undefined;
}

function linkAt(text: string, at: number, depth: number, isImage: boolean): Piece | undefined {
  const close = endOf(text, '](', at + 1);
  if (close === undefined) return undefined;
  const end = endOf(text, ')', close + 2);
  if (end === undefined) return undefined;
  const shown = text.slice(at + 1, close);
  const [target = ''] = text
    .slice(close + 2, end)
    .trim()
    .split(/\s/);
  const url = followedUrl(target.replace(/^<|>$/g, ''));
  if (isImage) return { inline: { kind: 'image', url: url ?? '', text: shown }, end: end + 1 };
  if (url === undefined) return { inline: { kind: 'text', text: shown }, end: end + 1 };
  return { inline: { kind: 'link', url, content: inlinesOf(shown, depth + 1) }, end: end + 1 };
}

function autolinkAt(text: string, at: number): Piece | undefined {
  if (at > 0 && WORD.test(text.charAt(at - 1))) return undefined;
  AUTOLINK.lastIndex = at;
  const [match] = AUTOLINK.exec(text) ?? [];
  if (match === undefined) return undefined;
  const shown = match.replace(/[.,;:!?)\]]{1,9}$/, '');
  const url = followedUrl(shown);
  if (url === undefined) return undefined;
  return { inline: { kind: 'link', url, content: [{ kind: 'text', text: shown }] }, end: at + shown.length };
}

function endOf(text: string, mark: string, from: number): number | undefined {
  const within = text.slice(from, from + LONGEST);
  const at = within.indexOf(mark);
  return at === -1 ? undefined : from + at;
}
