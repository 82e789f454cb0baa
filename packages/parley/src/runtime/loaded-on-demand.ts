/** A part that most processes never need. Its code is loaded when it is first used. */
export class LoadedOnDemand<Part> {
  readonly #load: () => Promise<Part>;
  #loading: Promise<Part> | undefined;
  #loaded: Part | undefined;

  constructor(load: () => Promise<Part>) {
    this.#load = load;
  }

  /** Absent until it was needed. */
  get loaded(): Part | undefined {
    return this.#loaded;
  }

  /** Loads the part at the first call. After a failure the next call tries again. */
  get(): Promise<Part> {
    this.#loading ??= this.#load().then(
      (part) => {
        this.#loaded = part;
        return part;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }
}
