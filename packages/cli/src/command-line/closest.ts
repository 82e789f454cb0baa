/** Returns the candidate that was probably meant: one letter apart, or two letters in words of six or more. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const most = word.length < 6 ? 1 : 2;
  const near = candidates
    // The distance is at least the difference in length.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= most)
    .map((candidate) => ({ candidate, distance: isSwapped(word, candidate) ? 1 : distanceOf(word, candidate) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** Returns true if two adjacent letters are swapped, the most frequent mistake. */
function isSwapped(word: string, candidate: string): boolean {
  const at = Array.from(word).findIndex((letter, index) => letter !== candidate[index]);
  return at >= 0 && candidate === `${word.slice(0, at)}${word[at + 1] ?? ''}${word[at]}${word.slice(at + 2)}`;
}

/** Returns the number of letters to insert, delete or replace. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of Array.from(from).entries()) {
    const next = [line + 1];
    for (let at = 0; at < to.length; at++) {
      const replaced = (row[at] ?? 0) + (to[at] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
