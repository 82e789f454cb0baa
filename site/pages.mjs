// Collects the pages of the site: the documents, the reference, and what leads to them.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../scripts/processes.mjs';
import { pagesFolder } from './folders.mjs';
import { OTHER_PAGES, placeOf, withSiteLinks } from './links.mjs';
import { readingOrder } from './reading-order.mjs';
import { describe, referencePages } from './reference.mjs';
import { guidesOf, symbolsOf, withGuides } from './symbols.mjs';

/**
 * Writes the Markdown of all pages. Resolves to their places, the sections of the sidebar, and the place of each
 * described name.
 */
export async function stagePages({ urlOf }) {
  const documents = [...documentsIn('docs'), ...documentsIn('docs/decisions'), ...OTHER_PAGES].map((path) => {
    const markdown = withSiteLinks(readFileSync(join(root, path), 'utf8'), { path, urlOf });
    return { path, place: placeOf(path), markdown, title: titleOf(markdown) };
  });
  const reference = referencePages();
  const described = await describe(reference);
  const symbols = symbolsOf(described);
  const reading = [
    // The index of the decisions leads to each of them.
    ...readingOrder(documents.filter(({ path }) => path.startsWith('docs/') && !path.startsWith('docs/decisions/0'))),
    ...referenceSections(reference),
  ];
  const read = reading.flatMap(({ pages }) => pages.map(({ place }) => place));
  const guides = guidesOf(
    documents.filter(({ place }) => read.includes(place)),
    symbols,
  );
  const pages = [
    ...documents,
    { place: 'reference/index.md', markdown: overviewOf(reference) },
    ...reference.map((page) => ({
      place: `reference/${page.file}`,
      markdown: referencePage(page, described.get(page.file), guides, symbols),
    })),
  ];
  for (const { place, markdown } of pages) write(place, markdown);
  // Pictures and data, which documents link to.
  const isNoPage = (path) => !path.endsWith('.md');
  cpSync(join(root, 'docs'), pagesFolder, { recursive: true, filter: isNoPage });
  cpSync(join(root, 'packages/console/src/web/icon.svg'), join(pagesFolder, 'icon.svg'));
  return { places: pages.map(({ place }) => place), reading, symbols };
}

function documentsIn(folder) {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

function titleOf(markdown) {
  return /^# (.*)$/m.exec(markdown)?.[1].replaceAll('`', '') ?? 'Parley';
}

function write(place, markdown) {
  const file = join(pagesFolder, place);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, markdown);
}

/** The sections of the reference: the core, and the packages beside it. */
function referenceSections(reference) {
  const pagesOf = (isCore) =>
    reference
      .filter(({ packageName }) => (packageName === 'parley-a2a') === isCore)
      .map(({ path, file }) => ({ title: path, place: `reference/${file}` }));
  return [
    {
      title: 'API: parley-a2a',
      isReference: true,
      pages: [{ title: 'All import paths', place: 'reference/index.md' }, ...pagesOf(true)],
    },
    { title: 'API: packages beside it', isReference: true, pages: pagesOf(false) },
  ];
}

function overviewOf(reference) {
  const rows = reference.map(({ path, file, content = '' }) => `| [\`${path}\`](${file}) | ${linked(content)} |`);
  return `# Import paths\n\nThe types of every import path, from the comments of the code.\n\n${[
    '| import | content |',
    '| --- | --- |',
    ...rows,
  ].join('\n')}\n`;
}

function referencePage({ path, content, elsewhere }, markdown, guides, symbols) {
  const again = elsewhere.flatMap(({ name, file }) => {
    const [, anchor] = symbols.get(name)?.split('#') ?? [];
    return anchor === undefined ? [] : [`[\`${name}\`](${file}#${anchor})`];
  });
  const parts = [
    `# ${path}`,
    ...(content === undefined ? [] : [`${linked(content).replace(/[a-z]/i, (letter) => letter.toUpperCase())}.`]),
    withGuides(markdown, guides).trim(),
    ...(again.length === 0 ? [] : ['## Names of other pages', `This path also exports ${again.join(', ')}.`]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A sentence of the README of the core, for a page in `reference/`. */
function linked(content) {
  return withSiteLinks(content.replaceAll('](docs/', '](../../docs/'), {
    path: 'packages/parley/README.md',
    place: 'reference/index.md',
    urlOf: () => undefined,
  });
}
