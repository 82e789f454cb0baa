// The versions that a folder of sites holds, for the menu of each of them.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the list of versions, newest first, and sends visitors of the folder to the newest release. */
export function writeVersions(folder, root) {
  const versions = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'llms.txt')))
    .map(({ name }) => name)
    .sort(newestFirst);
  const [newest] = versions;
  writeFileSync(join(folder, 'versions.json'), JSON.stringify(versions));
  writeFileSync(join(folder, 'index.html'), redirectTo(`${root}${newest}/`));
  copyFileSync(join(folder, newest, '404.html'), join(folder, '404.html'));
  const index = readFileSync(join(folder, newest, 'llms.txt'), 'utf8');
  writeFileSync(join(folder, 'llms.txt'), index.replaceAll('](', `](${newest}/`));
}

/** Releases by their numbers, then what is no release, such as `next`. */
export function newestFirst(one, other) {
  const [first, second] = [numbersOf(one), numbersOf(other)];
  const at = first.findIndex((number, index) => number !== second[index]);
  return at === -1 ? 0 : second[at] - first[at];
}

function numbersOf(version) {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  return found === null ? [-1, -1, -1] : found.slice(1).map(Number);
}

function redirectTo(url) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=${url}">
<link rel="canonical" href="${url}">
<title>Parley</title>
<p><a href="${url}">Parley</a></p>
</html>
`;
}
