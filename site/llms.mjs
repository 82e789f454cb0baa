// The files for language models: `llms.txt` (https://llmstxt.org), and all documents in one file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagesFolder } from './folders.mjs';

/** The files, by their names. */
export function llmsFiles({ reading, version }) {
  const read = (place) => readFileSync(join(pagesFolder, place), 'utf8');
  const line = ({ place, title }) => {
    const about = firstSentence(read(place));
    return `- [${title}](${place})${about === '' ? '' : `: ${about}`}`;
  };
  const sections = reading.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join('\n')}`);
  const index = [
    '# Parley',
    `> The Agent2Agent (A2A) toolkit for TypeScript, version ${version}: libraries for servers and clients, a command line.`,
    'Each page has its Markdown beside it: `agents.html` and `agents.md`.',
    '- [All documents](llms-full.txt) in one file, without the API\n' +
      '- [A skill](skill/SKILL.md) for agents that call agents by the command line',
    ...sections,
  ];
  const documents = reading
    .filter(({ isReference }) => !isReference)
    .flatMap(({ pages }) => pages.map(({ place }) => `<!-- ${place} -->\n\n${read(place).trim()}`));
  return [
    ['llms.txt', `${index.join('\n\n')}\n`],
    ['llms-full.txt', `${documents.join('\n\n')}\n`],
  ];
}

/** The first sentence of a page, as plain text. */
function firstSentence(markdown) {
  const prose = markdown.replace(/^---\n.*?^---\n/ms, '').replaceAll(/^ *```.*?^ *```$/gms, '');
  const paragraph = prose.split(/\n{2,}/).find((text) => /^[A-Z*`[]/.test(text)) ?? '';
  const plain = paragraph
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '');
  return (/^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}
