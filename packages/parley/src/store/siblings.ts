/**
 * The processes that answer as one server on a storage. Each of them offers its figures, as JSON, and can ask for those
 * of all.
 */
export interface Siblings {
  /** Called when a process asks. The returned function ends that. */
  offer(figures: () => Promise<unknown>): () => void;
  /** The figures of all processes that answer in time, this one included. */
  collect(): Promise<readonly unknown[]>;
}
