/** The middle one of some figures. NaN, which no comparison accepts, if there are none. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
