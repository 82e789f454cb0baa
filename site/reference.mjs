// Writes the reference of the public types: a page for each import path, from the built declarations.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application } from 'typedoc';
import { publicApis } from '../scripts/api-report.mjs';
import { root } from '../scripts/processes.mjs';
import { cache, here } from './folders.mjs';
import { anchorOf } from './links.mjs';

/** The sentence about import paths for the packages of this repository, which the reference leaves out. */
const UNSTABLE = 'may change in every version';

const README = 'packages/parley/README.md';

/**
 * The pages of the reference, one for each import path. `names` are those that the page describes, and `elsewhere`
 * those that another page describes. `content` is the sentence of the README about the path, in Markdown.
 */
export function referencePages() {
  const contents = contentsOf(readFileSync(join(root, README), 'utf8'));
  const entries = publicApis()
    .flatMap(({ name, entries }) => entries.map((entry) => ({ ...entry, packageName: name })))
    .filter(({ path }) => !contents.get(path)?.includes(UNSTABLE))
    .sort((one, other) => rank(one) - rank(other) || (one.path < other.path ? -1 : 1));
  const describing = new Map();
  return entries.map(({ path, packageName, symbols }) => {
    const page = { path, packageName, file: `${path.replace('/', '.')}.md`, content: contents.get(path), names: [] };
    const elsewhere = [];
    for (const { name, target } of symbols) {
      const other = describing.get(target);
      if (other !== undefined) elsewhere.push({ name, file: other });
      else if (!name.includes('.')) {
        describing.set(target, page.file);
        page.names.push(name);
      }
    }
    return { ...page, elsewhere };
  });
}

/** Documents import a name from the root if it is there. The storage engine repeats names of the core. */
function rank({ path, packageName }) {
  if (path === 'parley-a2a') return 0;
  if (path === 'parley-a2a/storage-engine') return 2;
  return packageName === 'parley-a2a' ? 1 : 3;
}

/** The sentences about import paths in the tables of the README. */
function contentsOf(readme) {
  return new Map(
    Array.from(readme.matchAll(/^\| (`(?:create-)?parley-a2a.*?) \| (.*) \|$/gm)).flatMap(([, paths, content]) =>
      Array.from(paths.matchAll(/`([^`]+)`/g), ([, path]) => [path, content]),
    ),
  );
}

/** Describes the names of each page with TypeDoc. Resolves to the Markdown of each file, without a title. */
export async function describe(pages) {
  const [entries, out] = [join(cache, 'entries'), join(cache, 'typedoc')];
  for (const folder of [entries, out]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const described = pages.filter(({ names }) => names.length > 0);
  const entryPoints = described.map(({ path, file, names }) => {
    const entry = join(entries, file.replace(/md$/, 'ts'));
    writeFileSync(entry, `export { ${names.join(', ')} } from '${path}';\n`);
    return entry;
  });
  const app = await Application.bootstrapWithPlugins({
    entryPoints,
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: join(here, 'tsconfig.json'),
    // The build has checked the types.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeExternals: true,
    excludeInternal: true,
    disableSources: true,
    readme: 'none',
    name: 'Reference',
    logLevel: 'Error',
    outputs: [{ name: 'markdown', path: out }],
    outputFileStrategy: 'modules',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    hidePageTitle: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    propertyMembersFormat: 'table',
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc cannot read the declarations');
  await app.generateOutputs(project);
  return new Map(
    pages.map(({ file, names }) => [file, names.length === 0 ? '' : tidied(readFileSync(join(out, file), 'utf8'))]),
  );
}

/** The Markdown of TypeDoc with one heading for all errors, without rules, and with links to existing anchors. */
function tidied(markdown) {
  let last;
  const lines = markdown.split('\n').filter((line) => {
    const isRepeated = line === last && line.endsWith(' Throws');
    if (line.startsWith('#')) last = line;
    return !isRepeated && line !== '***';
  });
  const anchors = anchorsOf(lines);
  return (
    lines
      .join('\n')
      // A union in a cell begins with a line of its own in TypeDoc.
      .replaceAll('| \\| ', '| ')
      .replaceAll(/\]\(#([\w-]+)-\d+\)/g, (link, first) => (anchors.has(link.slice(3, -1)) ? link : `](#${first})`))
  );
}

/** The anchors of a page. A heading that is there already gets a number. */
function anchorsOf(lines) {
  const anchors = new Set();
  for (const line of lines.filter((text) => /^#+ /.test(text))) {
    const anchor = anchorOf(line.replace(/^#+ /, ''));
    let number = 0;
    while (anchors.has(number === 0 ? anchor : `${anchor}-${number}`)) number++;
    anchors.add(number === 0 ? anchor : `${anchor}-${number}`);
  }
  return anchors;
}
