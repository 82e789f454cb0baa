// Lists the packages of the repository, for the other scripts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './processes.mjs';

/** The packages of the repository: folder, name, whether npm gets it, and the names of the packages that it needs. */
export function workspaces() {
  const { workspaces: patterns } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folders = patterns.flatMap((pattern) => {
    const [parent, all] = pattern.split('/*');
    return all === undefined ? [pattern] : readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  });
  return folders.filter((folder) => existsSync(join(root, folder, 'package.json'))).map(workspaceAt);
}

/** The folders and those of all packages of the repository that they need, each after its needs. */
export function withNeeds(folders) {
  const all = workspaces();
  const sorted = [];
  const add = ({ folder, needs }) => {
    for (const other of all) if (needs.includes(other.name) && !sorted.includes(other.folder)) add(other);
    if (!sorted.includes(folder)) sorted.push(folder);
  };
  for (const one of all) if (folders.includes(one.folder)) add(one);
  return sorted;
}

/** The folders of the packages that npm gets. */
export function publishedFolders() {
  return workspaces().flatMap(({ folder, isPublished }) => (isPublished ? [folder] : []));
}

function workspaceAt(folder) {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const { name, dependencies, devDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
  const needs = [...Object.keys({ ...dependencies, ...devDependencies }), ...peers];
  return { folder, name, needs, isPublished: manifest.private !== true };
}
