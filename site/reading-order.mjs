// The order in which the documents are read.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from '../scripts/processes.mjs';

const INDEX = 'docs/README.md';

/**
 * The sections of the index of the documents: each has a title and its pages, with the texts of their links. Documents
 * that it does not name come last.
 */
export function readingOrder(documents) {
  const unread = new Map(documents.map((document) => [document.path, document]));
  const take = (path, text) => {
    const document = unread.get(path);
    unread.delete(path);
    return document === undefined ? [] : [{ place: document.place, title: text ?? document.title }];
  };
  const index = take(INDEX, 'All documents');
  const sections = readFileSync(join(root, INDEX), 'utf8')
    .split(/^##* /m)
    .slice(1)
    .map((section) => ({
      title: section.split('\n', 1)[0],
      pages: Array.from(section.matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)).flatMap(([, text, target]) =>
        take(posix.join(posix.dirname(INDEX), target), text[0].toUpperCase() + text.slice(1)),
      ),
    }));
  sections[0]?.pages.unshift(...index);
  const others = [...unread.keys()].flatMap((path) => take(path));
  return [...sections, { title: 'More', pages: others }].filter(({ pages }) => pages.length > 0);
}
