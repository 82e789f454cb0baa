/** The most characters of a name. */
const MOST_CHARACTERS = 255;
/** Control characters, and those that change the direction of text to hide an ending. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: names come from outside
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu;

/**
 * Makes a safe file name without a folder from an untrusted name; `undefined` if nothing is left. A name is only shown,
 * and never used as a path.
 */
export function safeFilename(name: string | undefined): string | undefined {
  const last = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(UNSAFE, '')
    .replace(/[<>:"|?*]/g, '_')
    .trim()
    .replace(/^\.+$/, '');
  return last === undefined || last === '' ? undefined : shorten(last);
}

/** Shortens a name, but keeps its extension. */
function shorten(name: string): string {
  const characters = [...name];
  if (characters.length <= MOST_CHARACTERS) return name;
  const ending = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, MOST_CHARACTERS - ending.length).join('') + ending;
}
