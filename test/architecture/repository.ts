import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from './source-tree.js';

// Joined from pieces, or this file would violate its own rule.
const REGISTRY_HOSTS = [
  ['registry', 'npmjs', 'org'],
  ['npmjs', 'com'],
  ['pypi', 'org'],
  ['pythonhosted', 'org'],
  ['proxy', 'golang', 'org'],
  ['deb', 'debian', 'org'],
].map((labels) => labels.join('\\.'));
const MACHINE_PATHS = ['work', 'root', 'home', 'Users', 'mnt'].map((folder) => `(?<![\\w.}-])/${folder}/[\\w.-]`);
const OUTSIDE_THE_REPOSITORY = ['\\.\\./', 'sha', 'red/'].join('');

const REQUIREMENT_FAMILIES =
  'ART AUTH CACHE CAN CAP EXT GET ID ITA LIFE LIST NUM PUSH SCOPE SEC SEL SEND STR TEN TIME VER XCARD'.split(' ');

const FORBIDDEN: readonly (readonly [says: string, pattern: RegExp])[] = [
  ['the host of a registry', new RegExp(REGISTRY_HOSTS.join('|'))],
  ['a path of one machine', new RegExp(MACHINE_PATHS.join('|'))],
  ['a folder outside of the repository', new RegExp(OUTSIDE_THE_REPOSITORY)],
  // The specification numbers only its sections.
  [
    'a requirement by an id that no document defines',
    new RegExp(`\\b(?:${REQUIREMENT_FAMILIES.join('|')})-\\d{1,2}\\b`),
  ],
];

/** Paths and texts of the files that git tracks, or will track after the next `git add`. Binary files are left out. */
export function repositoryFiles(root: string): ReadonlyMap<string, string> {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
    { cwd: root },
  );
  const files = new Map<string, string>();
  for (const path of listed.toString().split('\0')) {
    const text = path === '' ? undefined : textOf(join(root, path));
    if (text !== undefined) files.set(path, text);
  }
  return files;
}

function textOf(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Lines with a path, host or id that belongs to one machine or one private document. */
export function machineTraces(files: ReadonlyMap<string, string>): Violation[] {
  return Array.from(files).flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        FORBIDDEN.flatMap(([says, pattern]) =>
          pattern.test(line) ? [{ file, line: index + 1, problem: `names ${says}: ${pattern.exec(line)?.[0]}` }] : [],
        ),
      ),
  );
}

/** Entries of a lock file that contain the origin of a package. */
export function resolvedPackages(lock: string): string[] {
  const packages =
    (JSON.parse(lock) as { packages?: Record<string, { resolved?: string; link?: boolean }> }).packages ?? {};
  return Object.entries(packages)
    .filter(([, { resolved, link }]) => resolved !== undefined && link !== true)
    .map(([path]) => path);
}
