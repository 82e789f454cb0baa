/** Text that is HTML already. */
export interface Markup {
  readonly text: string;
}

type Inserted = string | number | Markup | readonly Markup[];

/** HTML in which everything inserted is text, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...values: readonly Inserted[]): Markup {
  const text = strings.map((string, at) => string + (at < values.length ? insertText(values[at] ?? '') : '')).join('');
  return { text };
}

/** A text that has been looked after and stays as it is. */
export function asMarkup(text: string): Markup {
  return { text };
}

function insertText(value: Inserted): string {
  if (Array.isArray(value)) return value.map(insertText).join('');
  if (typeof value === 'object') return (value as Markup).text;
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
