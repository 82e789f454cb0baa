import { type NewProject, projectFiles, QUESTIONS } from 'create-parley-a2a';

/** The answers to the questions with choices. */
export type Combination = Pick<NewProject, 'agent' | 'host' | 'storage' | 'auth'>;

const NAMES = ['agent', 'host', 'storage', 'auth'] as const;
const choices = (name: (typeof NAMES)[number]) => Object.keys(QUESTIONS[name].choices);

/** Every combination of answers. */
export function allCombinations(): readonly Combination[] {
  let rows: readonly Readonly<Record<string, string>>[] = [{}];
  for (const name of NAMES) rows = rows.flatMap((row) => choices(name).map((choice) => ({ ...row, [name]: choice })));
  return rows as unknown as readonly Combination[];
}

/** Few combinations with every pair of answers to two questions. */
export function pairwiseCombinations(): readonly Combination[] {
  const all = allCombinations();
  const missing = new Set(all.flatMap(pairsOf));
  const chosen: Combination[] = [];
  while (missing.size > 0) {
    const gain = (row: Combination) => pairsOf(row).filter((pair) => missing.has(pair)).length;
    const best = all.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    for (const pair of pairsOf(best)) missing.delete(pair);
    chosen.push(best);
  }
  return chosen;
}

/** The pairs of answers of a combination. */
export function pairsOf(row: Combination): readonly string[] {
  return NAMES.flatMap((one, index) =>
    NAMES.slice(index + 1).map((other) => `${one}=${row[one]} ${other}=${row[other]}`),
  );
}

/** A short name for a combination. */
export function labelOf({ agent, host, storage, auth }: Combination): string {
  return [agent, host, storage, auth].join('-');
}

/** The files of the project of a combination, by path. */
export function filesOf(combination: Combination, container = true): Readonly<Record<string, string>> {
  const project = { name: 'my-agent', version: '0.1.0', nodeRange: '>=22.19', key: 'a-key' };
  return projectFiles({ ...project, ...combination, container });
}
