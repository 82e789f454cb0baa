/** Cuts a text after so many characters and removes control characters, except for tabs and line breaks. */
export function shortened(text: string, length: number): string {
  const plain = text.slice(0, length + 1).replaceAll(/[^\P{Cc}\t\n]/gu, '');
  const cut = plain.length > length ? `${plain.slice(0, length - 1)}…` : plain;
  return cut.toWellFormed();
}

/** The same on one line. */
export function oneLine(text: string, length: number): string {
  return shortened(text, length).replaceAll(/\s+/g, ' ').trim();
}
