// Links of Markdown in the repository, as links between pages of the site.
import { posix } from 'node:path';

/** Files whose places in the site are others than in `docs/`. */
const PLACES = {
  'site/home.md': 'index.md',
  'docs/README.md': 'guides.md',
  'docs/decisions/README.md': 'decisions/index.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security-policy.md',
};

/** Files outside of `docs/` that are pages. */
export const OTHER_PAGES = Object.keys(PLACES).filter((path) => !path.startsWith('docs/'));

/** The place in the site of a file; undefined if it has none. */
export function placeOf(path) {
  const [, place] = /^(?:docs|site)\/(.*)$/.exec(path) ?? [];
  return PLACES[path] ?? place;
}

/**
 * The Markdown of a file of the repository for a page of the site, by default its own. A link to a file that is no page
 * leads to the repository, by `urlOf`. It is plain text if that has no url.
 */
export function withSiteLinks(markdown, { path, place = placeOf(path), urlOf }) {
  return outsideOfCode(markdown, (prose) =>
    prose.replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, image, text, target) => {
      const [file, anchor] = target.split('#');
      const linked = posix.join(posix.dirname(path), file);
      const page = placeOf(linked);
      const url = page === undefined ? urlOf(linked) : posix.relative(posix.dirname(place), page);
      if (url === undefined) return text;
      return `${image}[${text}](${url}${anchor === undefined ? '' : `#${anchor}`})`;
    }),
  );
}

/** Applies a function to the parts of Markdown that are no blocks of code. */
export function outsideOfCode(markdown, change) {
  return markdown
    .split(/^( *```[^\n]*\n.*?^ *```$)/ms)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

/** The anchor of a heading: that of GitHub, for which the documents are written. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s/g, '-');
}
