/** Levels of data for a schema that refers to itself. */
const MOST_LEVELS = 100;
/** Maximum number of checks of one value by a schema that refers to itself in several branches. */
const MOST_STEPS = 1_000_000;

/**
 * The bound that a value exceeds for a schema that refers to itself. `branches` multiply the work with each level of
 * the value, so that a deep value must be small. Undefined: the value can be checked.
 */
export function exceededBound(value: unknown, branches: number): string | undefined {
  if (branches === 0) return undefined;
  const { levels, count } = measure(value, 1);
  if (levels > MOST_LEVELS) return `must have at most ${MOST_LEVELS} levels`;
  return count * branches ** (levels - 1) > MOST_STEPS
    ? 'has too many levels and members for a schema of this kind'
    : undefined;
}

/** The levels of a value, and the number of its parts. Stops at the maximum. */
function measure(value: unknown, level: number): { readonly levels: number; readonly count: number } {
  if (typeof value !== 'object' || value === null) return { levels: level, count: 1 };
  let levels = level;
  let count = 1;
  if (level > MOST_LEVELS) return { levels, count };
  for (const one of Object.values(value)) {
    const inner = measure(one, level + 1);
    levels = Math.max(levels, inner.levels);
    count += inner.count;
  }
  return { levels, count };
}
