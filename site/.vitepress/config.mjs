// The configuration of VitePress. The build writes what it needs of the pages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache, pagesFolder, readingFile } from '../folders.mjs';
import { anchorOf } from '../links.mjs';
import { linkSymbols } from '../symbols.mjs';

const { base, version, root, repository, reading, symbols } = JSON.parse(readFileSync(readingFile, 'utf8'));
const link = (place) => `/${place.replace(/\.md$/, '').replace(/(^|\/)index$/, '$1')}`;
const sections = (isReference) =>
  reading
    .filter((section) => Boolean(section.isReference) === isReference)
    .map(({ title, pages }) => ({
      text: title,
      items: pages.map(({ title: text, place }) => ({ text, link: link(place) })),
    }));

const config = {
  lang: 'en',
  title: 'Parley',
  description: 'The Agent2Agent (A2A) toolkit for TypeScript',
  srcDir: pagesFolder,
  cacheDir: join(cache, 'vitepress'),
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  transformHead: ({ page, pageData: { relativePath } }) =>
    page === '404.md' ? [] : [['link', { rel: 'alternate', type: 'text/markdown', href: `${base}${relativePath}` }]],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => linkSymbols(md, new Map(symbols)),
  },
  // The index of the search is one chunk.
  vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Guides', link: link(reading[0].pages[0].place) },
      { text: 'API', link: '/reference/' },
      { text: 'Changes', link: '/changelog' },
      ...(repository === '' ? [] : [{ text: 'Source', link: repository }]),
    ],
    sidebar: { '/': sections(false), '/reference/': sections(true) },
    outline: [2, 3],
    versions: { current: version, root },
    search: {
      provider: 'local',
      options: {
        _render: renderForSearch,
        miniSearch: {
          // A guide comes before the names that have a word of it.
          searchOptions: { boostDocument: (id) => (id.includes('/reference/') ? 0.4 : 1) },
        },
      },
    },
  },
};

/** The text that the search reads: names and their first sentences in the reference, and nothing of the changelog. */
function renderForSearch(src, env, md) {
  if (env.relativePath === 'changelog.md') return '';
  if (!env.relativePath.startsWith('reference/')) return md.render(src, env);
  const parts = src.split(/^(?=##+ )/m).filter((part) => !part.startsWith('####'));
  return md.render(parts.join(''), env);
}

export { config as default };
