/** A number of things that are there now, kept by whoever makes and ends them. */
export interface Tally {
  count: number;
}
