/** An attack that was tried, and the test that holds the defence. */
export interface Attack {
  /** The deed of the attacker, and what would break. */
  readonly attack: string;
  /** The file of the test, from the root of the repository. */
  readonly file: string;
  /** The name of the test, or of its row, as the file writes it. */
  readonly test: string;
}
