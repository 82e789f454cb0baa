/** A part of every secret that tests plant. No output of any process may show it, in no encoding. */
export const PLANTED = 'pl4nted-s3cret';

/** A secret of its own for a test. */
export function plantSecret(name: string): string {
  return `${PLANTED}-${name}`;
}

/** A secret that an output has shown. */
export interface Leak {
  readonly source: string;
  readonly text: string;
}

const BASE64_OFFSETS = [0, 1, 2];

/** All forms of the planted part: as it is, escaped, in hex, and in base64 after any number of other bytes. */
export const PLANTED_FORMS: readonly string[] = [
  PLANTED,
  PLANTED.replaceAll('-', '%2d'),
  [...PLANTED].map((one) => `%${one.charCodeAt(0).toString(16)}`).join(''),
  [...PLANTED].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(''),
  Buffer.from(PLANTED).toString('hex'),
  ...BASE64_OFFSETS.map((offset) => {
    const encoded = Buffer.from(`${'\0'.repeat(offset)}${PLANTED}`).toString('base64');
    return encoded.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + PLANTED.length) * 4) / 3));
  }),
].map((form) => form.toLowerCase());

const LONGEST = Math.max(...PLANTED_FORMS.map(({ length }) => length));

/** The planted secret in a text, with what stands around it; undefined if there is none. */
export function leakIn(text: string): string | undefined {
  const lower = text.toLowerCase();
  const at = PLANTED_FORMS.map((form) => lower.indexOf(form)).find((index) => index >= 0);
  return at === undefined ? undefined : text.slice(Math.max(0, at - 120), at + 120);
}

/** Reads outputs piece by piece, also if a secret is cut between two pieces. */
export class SecretWatch {
  #leaks: Leak[] = [];
  readonly #rests = new Map<string, string>();

  read(source: string, piece: string): void {
    const text = (this.#rests.get(source) ?? '') + piece;
    const found = leakIn(text);
    if (found !== undefined) this.#leaks.push({ source, text: found });
    // A leak is reported once, not again with the next piece.
    this.#rests.set(source, found === undefined ? text.slice(-LONGEST) : '');
  }

  /** The leaks since the last call. */
  take(): readonly Leak[] {
    const leaks = this.#leaks;
    this.#leaks = [];
    return leaks;
  }

  /** @throws Error with the leaks since the last call. */
  check(): void {
    const leaks = this.take();
    if (leaks.length === 0) return;
    const told = leaks.map(({ source, text }) => `${source}: …${text}…`).join('\n');
    throw new Error(`A planted secret is shown:\n${told}`);
  }
}

/** The outputs of this test file: its own, those of its processes, and its captured logs. */
export const outputs = new SecretWatch();
