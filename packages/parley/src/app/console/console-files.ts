/** A file of the console. */
export interface ConsoleFile {
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

/** The files of the console, by name, and the names of those that its page refers to. */
export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  /** Further scripts of the first view. */
  readonly preloads: readonly string[];
  readonly files: ReadonlyMap<string, ConsoleFile>;
}
