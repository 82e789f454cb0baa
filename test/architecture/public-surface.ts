import { isBuiltin } from 'node:module';
import { importsOf } from './imports.js';
import type { SourceTree, Violation } from './source-tree.js';

/** Imports of the library by another package that are not among its public subpaths. */
export function privateImports(
  tree: SourceTree,
  { library, subpaths }: { library: string; subpaths: readonly string[] },
): Violation[] {
  const allowed = new Set(subpaths.map((subpath) => subpath.replace(/^\./, library)));
  return tree.files.flatMap((file) =>
    importsOf(file).flatMap(({ specifier, line }) => {
      const inside = specifier === library || specifier.startsWith(`${library}/`);
      const reachesIn = /(?:^|\/)(?:packages\/)?parley\/(?:src|dist)\//.test(specifier);
      const wrong = reachesIn || (inside && !allowed.has(specifier));
      return wrong ? [{ file: file.path, line, problem: `${specifier} is not public` }] : [];
    }),
  );
}

/** True for a module of Node. */
export const isNodeModule = (specifier: string): boolean => specifier.startsWith('node:') && isBuiltin(specifier);

/** Imports of shipped files that are neither files of the same package nor allowed. */
export function importsFromOutside(tree: SourceTree, isAllowed = isNodeModule): Violation[] {
  return tree.shipped.flatMap((file) =>
    importsOf(file).flatMap(({ specifier, line }) => {
      const isOwn = specifier.startsWith('.') && tree.resolve(file.path, specifier) !== undefined;
      if (isOwn || isAllowed(specifier)) return [];
      return [{ file: file.path, line, problem: `${specifier} is from outside of the package` }];
    }),
  );
}

/** Modules of Node that a file needs at run time, with the path of imports that leads there. */
export function nodeModulesNeededBy(tree: SourceTree, entry: string): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const walk = (path: string, way: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const file = tree.file(path);
    if (file === undefined) throw new Error(`${path} is not in the tree`);
    for (const { specifier, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      const target = specifier.startsWith('.') ? tree.resolve(path, specifier) : undefined;
      if (target !== undefined) walk(target.path, `${way} → ${target.path}`);
      else if (isBuiltin(specifier)) found.push(`${way} → ${specifier}`);
    }
  };
  walk(entry, entry);
  return found;
}
