/** The names in code in the first column of the table under a heading of Markdown, in order. */
export function namesInTable(markdown: string, heading: string): string[] {
  return sectionOf(markdown, heading)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => Array.from((line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g), ([, name = '']) => name));
}

/** The groups of rooms in the chain of the import rule, from left to right. */
export function importChain(markdown: string): string[][] {
  const lines = sectionOf(markdown, 'The import rule')
    .split('\n')
    .filter((line) => line.startsWith('    '));
  return lines
    .join(' ')
    .split('→')
    .map((group) => group.split(',').map((room) => room.trim()));
}

/** Names of a table that are missing, that are listed twice, or that stand for nothing. */
export function tableFaults(listed: readonly string[], real: readonly string[]): string[] {
  return [
    ...real.filter((name) => !listed.includes(name)).map((name) => `${name} is missing`),
    ...listed.filter((name, at) => listed.indexOf(name) !== at).map((name) => `${name} is listed twice`),
    ...listed.filter((name) => !real.includes(name)).map((name) => `${name} does not exist`),
  ];
}

function sectionOf(markdown: string, heading: string): string {
  const [, rest = ''] = markdown.split(`\n## ${heading}\n`);
  return rest.split('\n## ')[0] ?? '';
}
