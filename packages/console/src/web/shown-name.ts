/** Invisible characters, and those that change the direction of text. With them a name could look like another one. */
const DECEIVING = /[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;

/** A name from an agent on one line, without deceiving characters, truncated to `most`. */
export function shownName(text: string, most = 120): string {
  const plain = text
    .slice(0, 4 * most)
    .replaceAll(/\s+/g, ' ')
    .replace(DECEIVING, '\ufffd');
  const characters = [...plain];
  return characters.length <= most ? plain : `${characters.slice(0, most - 1).join('')}…`;
}

/** Characters that reverse the text after them, whatever its script. No language needs them. */
const OVERRIDES = /[\u202d\u202e]/g;

/** A longer text from an agent, without characters that reverse it. */
export function shownText(text: string): string {
  return text.replace(OVERRIDES, '\ufffd');
}

/** JSON with each deceiving character escaped. */
export function shownJson(json: string): string {
  const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(DECEIVING, (character) => (character === '\n' ? character : escapeCharacter(character)));
}

const NOW_SECONDS = 3;

/** The time since a moment in words, in the largest unit that fits. */
export function agoOf(timestamp: string | undefined, now: number): string {
  const since = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  if (Number.isNaN(since)) return '–';
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  if (seconds < NOW_SECONDS) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** The time of day with milliseconds, as the user's clock shows it. */
export function clockTime(time: number | string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '–';
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** A number of bytes for people. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
