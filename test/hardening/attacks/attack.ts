/** An attack that was tried, and the test that holds the defence. */
export interface Attack {
  /** The act of the attacker, and the damage. */
  readonly attack: string;
  /** The file of the test, from the root of the repository. */
  readonly file: string;
  /** The name of the test, or of its row, as the file writes it. */
  readonly test: string;
}
