import { printableText } from 'parley-a2a/kit';

/** Truncates a text. Characters that control a terminal or hide text are escaped. */
export function shortenText(text: string, length: number): string {
  const plain = printableText(text.slice(0, length + 1).toWellFormed());
  const cut = plain.length > length ? `${plain.slice(0, length - 1)}…` : plain;
  return cut.toWellFormed();
}

/** As `shortenText`, on one line. */
export function oneLine(text: string, length: number): string {
  return shortenText(text, length).replaceAll(/\s+/g, ' ').trim();
}
