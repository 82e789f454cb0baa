// The list of the parts of a package (CycloneDX): what npm brings with it into an empty project.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runNpm } from './processes.mjs';

/**
 * Writes the list of a package, from its manifest, into a file. `packedFile` gives the packed file of a package of the
 * repository, which no registry has yet, and undefined for others. Resolves to the exit code and output of npm.
 */
export async function writePartsList(manifest, { file, packedFile }) {
  const { devDependencies: _, scripts: __, bundled = [], ...shipped } = manifest;
  const folder = mkdtempSync(join(tmpdir(), 'parley-parts-'));
  // npm calls the package by the name of its folder.
  const place = join(folder, manifest.name);
  const needs = (wanted = {}) =>
    Object.fromEntries(Object.entries(wanted).map(([name, range]) => [name, packedFile(name) ?? range]));
  try {
    mkdirSync(place);
    const { dependencies, peerDependencies } = shipped;
    const project = { ...shipped, dependencies: needs(dependencies), peerDependencies: needs(peerDependencies) };
    writeFileSync(join(place, 'package.json'), JSON.stringify(project));
    const quiet = ['--prefix', place, '--package-lock-only', '--loglevel=error'];
    const resolved = await runNpm(['install', ...quiet, '--no-audit', '--no-fund'], { quiet: true });
    if (resolved.code !== 0) return resolved;
    const listed = await runNpm(['sbom', ...quiet, '--sbom-format=cyclonedx'], { quiet: true });
    if (listed.code === 0) writeFileSync(file, publicList(JSON.parse(listed.output), bundled));
    return listed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A list without files of this machine, and with the packages whose code is in the bundle of the package. */
function publicList(list, bundled) {
  const components = list.components.map(({ externalReferences = [], ...part }) => ({
    ...part,
    externalReferences: externalReferences.filter(({ url }) => !url.startsWith('file:')),
  }));
  return `${JSON.stringify({ ...list, components: [...components, ...bundled.map(bundledPart)] }, null, 2)}\n`;
}

/** A package in a bundle, which npm does not know. */
function bundledPart(name) {
  const { version, license } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
  const licenses = [{ license: { id: license } }];
  return { type: 'library', name, version, purl: `pkg:npm/${name}@${version}`, licenses };
}
