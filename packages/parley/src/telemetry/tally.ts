/** A count of current things. Their owner increments and decrements it. */
export interface Tally {
  count: number;
}
