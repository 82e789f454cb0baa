import type { RawPart } from 'parley-a2a';

/** Larger files are not read: servers refuse larger messages, and base64 takes a third more. */
export const MOST_BYTES = 25_000_000;

/** A file as a part of a message. */
export async function filePart(file: File): Promise<RawPart> {
  if (file.size > MOST_BYTES) throw new RangeError(`${file.name} is larger than 25 MB. Send a link to it.`);
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
