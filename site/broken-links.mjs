// Finds the links of a built site that lead nowhere.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * The broken links of the pages in a folder that is served at `base`. Such a link leads to a missing file, to a missing
 * anchor, or out of the site. Links to other hosts are not followed.
 */
export function brokenLinks(folder, base) {
  const pages = readdirSync(folder, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.html'));
  const anchors = new Map();
  const anchorsOf = (page) => {
    if (!anchors.has(page)) anchors.set(page, new Set(attributes(textOf(page), 'id')));
    return anchors.get(page);
  };
  const textOf = (page) => readFileSync(join(folder, page), 'utf8');
  const reasonOf = (page, link) => {
    const [path, anchor] = link.split('#');
    const absolute = posix.join(base, posix.dirname(page), '/');
    const target = path === '' ? `${base}${page}` : path.startsWith('/') ? path : posix.join(absolute, path);
    if (!target.startsWith(base)) return 'it leads out of the site';
    const file = target.endsWith('/') ? `${target}index.html` : target;
    const name = decodeURIComponent(file.slice(base.length));
    if (!existsSync(join(folder, name)) || !statSync(join(folder, name)).isFile()) return 'there is no such file';
    if (!anchor || anchorsOf(name).has(decodeURIComponent(anchor))) return undefined;
    return 'there is no such anchor';
  };
  return pages.flatMap((page) =>
    [...new Set([...attributes(textOf(page), 'href'), ...attributes(textOf(page), 'src')])]
      .filter((link) => !/^[a-z]+:/.test(link))
      .flatMap((link) => {
        const reason = reasonOf(page, link);
        return reason === undefined ? [] : [{ page, link, reason }];
      }),
  );
}

function attributes(html, name) {
  return Array.from(html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g')), ([, value]) =>
    value.replaceAll('&amp;', '&'),
  );
}
