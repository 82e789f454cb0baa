import type { RawPart } from 'parley-a2a';
import { bytesText } from './shown-name.js';

/** Maximum bytes of files in a message to an agent whose limit is unknown. */
const MOST_BYTES = 25_000_000;
/** Bytes of a message for its text, and for the names and types of its files. */
const OTHER_BYTES = 64 * 1024;

/** The maximum bytes of files in one message to an agent. `bodyBytes`: its limit for a request. */
export function mostFileBytes(bodyBytes: number | undefined): number {
  // Base64 needs a third more than the file.
  return bodyBytes === undefined ? MOST_BYTES : Math.max(0, Math.floor(((bodyBytes - OTHER_BYTES) * 3) / 4));
}

/** The bytes of a file in a message. */
export function fileBytes({ raw }: RawPart): number {
  return Math.floor((raw.length * 3) / 4);
}

/**
 * Makes a part of a file. `others` are the files that the message has already.
 * @throws RangeError if they do not fit into one message.
 */
export async function filePart(file: File, others: readonly RawPart[], most: number): Promise<RawPart> {
  const sum = others.reduce((bytes, other) => bytes + fileBytes(other), file.size);
  if (sum > most) {
    throw new RangeError(
      `${file.name} is too large: one message takes ${bytesText(most)} of files. Send a link to it instead.`,
    );
  }
  const raw = base64Of(await dataUrlOf(file));
  return { raw, filename: file.name, mediaType: file.type === '' ? 'application/octet-stream' : file.type };
}

function dataUrlOf(file: File): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} could not be read. Choose it again.`));
    reader.readAsDataURL(file);
  });
}

function base64Of(dataUrl: string): string {
  return dataUrl.slice(dataUrl.indexOf(',') + 1);
}
