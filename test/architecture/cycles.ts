import { importsOf } from './imports.js';
import type { SourceTree } from './source-tree.js';

/** Groups of files that import each other at run time. Each group is a cycle of value imports. */
export function importCycles(tree: SourceTree): string[][] {
  const edges = new Map(
    tree.files.map((file) => [
      file.path,
      importsOf(file).flatMap(({ specifier, typeOnly }) => {
        const target = typeOnly || !specifier.startsWith('.') ? undefined : tree.resolve(file.path, specifier);
        return target === undefined ? [] : [target.path];
      }),
    ]),
  );
  return components(edges).filter((group) => group.length > 1 || edges.get(group[0] ?? '')?.includes(group[0] ?? ''));
}

/** Strongly connected components (Tarjan). */
function components(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const groups: string[][] = [];

  const visit = (node: string): number => {
    const mine = order.size;
    order.set(node, mine);
    low.set(node, mine);
    path.push(node);
    for (const next of edges.get(node) ?? []) {
      const reached = order.has(next) ? (path.includes(next) ? (order.get(next) ?? mine) : mine) : visit(next);
      low.set(node, Math.min(low.get(node) ?? mine, reached));
    }
    const lowest = low.get(node) ?? mine;
    if (lowest === mine) groups.push(path.splice(path.indexOf(node)).sort());
    return lowest;
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return groups;
}
