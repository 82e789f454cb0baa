/** The names that a file imports, by module. A name of a type begins with `type `. */
export type Imports = Readonly<Record<string, readonly string[]>>;

/** Merges imports, so that each module appears once. */
export function mergeImports(...all: readonly Imports[]): Imports {
  const merged: Record<string, string[]> = {};
  for (const [module, names] of all.flatMap((imports) => Object.entries(imports)))
    merged[module] = [...new Set([...(merged[module] ?? []), ...names])];
  return merged;
}

/** Makes a source file: sorted imports, then the code. A name `default x` is the default export. */
export function sourceText(imports: Imports, code: string): string {
  const lines = Object.entries(imports)
    .sort(([one], [other]) => rank(one) - rank(other) || (sortKey(one) < sortKey(other) ? -1 : 1))
    .map(([module, names]) => `import ${clause(names)} from '${module}';`);
  return `${lines.join('\n')}\n\n${code}`;
}

function clause(names: readonly string[]): string {
  const main = names.filter((name) => name.startsWith('default ')).map((name) => name.slice('default '.length));
  const others = names.filter((name) => !name.startsWith('default ')).sort(byName);
  const onlyTypes = others.every((name) => name.startsWith('type '));
  const listed = onlyTypes ? others.map(bare) : others;
  const named = listed.length === 0 ? [] : [`{ ${listed.join(', ')} }`];
  return `${onlyTypes && others.length > 0 ? 'type ' : ''}${[...main, ...named].join(', ')}`;
}

/** The name without the prefix `type`. */
const bare = (name: string) => name.replace(/^type /, '');
const byName = (one: string, other: string) => (bare(one) < bare(other) ? -1 : 1);
/** Sorts paths of a package before packages with a longer name. */
const sortKey = (module: string) => module.replaceAll('/', ' ');
/** Sorts files of the project after packages. */
const rank = (module: string) => (module.startsWith('node:') ? 0 : module.startsWith('.') ? 2 : 1);
