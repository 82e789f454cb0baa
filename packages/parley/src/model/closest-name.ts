/** The candidate that the author of `name` most likely meant; `undefined` if none is near. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** The end of an error about a wrong name: the closest one, in brackets; empty if none is near. */
export function meantBy(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
}

/** Levenshtein: insertions, deletions and replacements that make one of the other. */
function editDistance(from: string, to: string): number {
  let row = [...Array(to.length + 1).keys()];
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
