import { TransientMap } from '../../runtime/transient-map.js';
import { isSameScope, type Scope } from '../../store/task-key.js';
import type { Turn } from './turn.js';

/** Turns by their tasks. The id leads to the few tasks that share it, and the scope tells those apart. */
export class TurnsByTask {
  readonly #byId = new TransientMap<string, Turn | readonly Turn[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  find(scope: Scope, id: string): Turn | undefined {
    const found = this.#byId.get(id);
    if (found === undefined) return undefined;
    if (isList(found)) return found.find((turn) => isSameScope(turn.scope, scope));
    return isSameScope(found.scope, scope) ? found : undefined;
  }

  /** Puts a turn in the place of another one of its task. */
  put(turn: Turn): void {
    this.#remove(turn);
    const { taskId } = turn;
    const others = this.#byId.get(taskId);
    this.#byId.set(taskId, others === undefined ? turn : [...listOf(others), turn]);
    this.#size += 1;
  }

  has(turn: Turn): boolean {
    return this.find(turn.scope, turn.taskId) === turn;
  }

  /** Removes a turn, unless another one has its place. */
  delete(turn: Turn): void {
    if (this.has(turn)) this.#remove(turn);
  }

  values(): Turn[] {
    return this.#byId.values().flatMap(listOf);
  }

  #remove({ scope, taskId }: Turn): void {
    const found = this.#byId.get(taskId);
    if (found === undefined) return;
    const all = listOf(found);
    const rest = all.filter((turn) => !isSameScope(turn.scope, scope));
    const [first] = rest;
    if (first === undefined) this.#byId.delete(taskId);
    else this.#byId.set(taskId, rest.length === 1 ? first : rest);
    this.#size -= all.length - rest.length;
  }
}

function isList(found: Turn | readonly Turn[]): found is readonly Turn[] {
  return Array.isArray(found);
}

function listOf(found: Turn | readonly Turn[]): readonly Turn[] {
  return isList(found) ? found : [found];
}
