/** The most characters of a name. */
const MOST_CHARACTERS = 255;
/** Control characters, and those that change the direction of text to hide an ending. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: names come from outside
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu;

/**
 * A name from outside as the name of a file without a folder; `undefined` if nothing is left. A name is only shown, and
 * is never a place in a store.
 */
export function safeFilename(name: string | undefined): string | undefined {
  const last = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(UNSAFE, '')
    .replace(/[<>:"|?*]/g, '_')
    .trim()
    .replace(/^\.+$/, '');
  return last === undefined || last === '' ? undefined : shortened(last);
}

/** The name with its ending, within the limit. */
function shortened(name: string): string {
  const characters = [...name];
  if (characters.length <= MOST_CHARACTERS) return name;
  const ending = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, MOST_CHARACTERS - ending.length).join('') + ending;
}
