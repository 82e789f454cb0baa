// What language models read of the site: `llms.txt` (https://llmstxt.org), and all documents in one file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagesFolder } from './folders.mjs';
import { outsideOfCode } from './links.mjs';

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
    `> Version ${version} of the Agent2Agent (A2A) toolkit for TypeScript: a server library, a client library and a command line.`,
    'Every page of the site has its Markdown beside it: `agents.html` and `agents.md`. All documents are in one file:',
    '- [llms-full.txt](llms-full.txt): all documents without the API\n- [skill/SKILL.md](skill/SKILL.md): the skill of the command line, for agents that call agents',
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
  const prose = outsideOfCode(markdown, (text) => text).replace(/^---\n.*?^---\n/ms, '');
  const paragraph = prose.split(/\n{2,}/).find((text) => /^[A-Z*`[]/.test(text)) ?? '';
  const plain = paragraph
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '');
  return /^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain;
}
