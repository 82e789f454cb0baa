import type { DeliveryHead, Holder, LocalHead, RecordTexts, Scope, TaskKey } from 'parley-a2a/storage-engine';
import { Table, Undo } from './table.js';

/** A task. Texts are JSON. */
export interface TaskRow {
  readonly name: string;
  readonly key: TaskKey;
  readonly contextId: string | undefined;
  state: LocalHead['state'];
  statusTime: number;
  readonly createdAt: number;
  hasEnded: boolean;
  endedAt: number | undefined;
  seq: number;
  floor: number;
  /** About what its log takes. */
  bytes: number;
  epoch: number;
  turns: number;
  began: number;
  queue: readonly { readonly turn: number; readonly place: number }[];
  holder: Holder | undefined;
  /** The last snapshot, and the number of its record. */
  snapshot: { readonly seq: number; readonly task: string } | undefined;
}

/** A task that a call has found. Only `putHead` writes its row. */
export interface TaskHead extends TaskRow {
  readonly head: TaskHead;
}

export interface TurnRow {
  readonly attempts: number;
  readonly handOvers: number;
  readonly message: string;
  readonly caller: string;
  readonly checkpoint?: string;
  readonly cancel?: string;
}

export interface QueueRow {
  readonly name: string;
  readonly task: string;
  readonly configId: string;
  /** Grows from one configuration to the next. */
  readonly order: number;
  readonly config: string;
  readonly head: DeliveryHead;
}

export interface KeyRow {
  readonly name: string;
  readonly scope: Scope;
  readonly key: string;
  readonly digest: string;
  readonly expiresAt: number;
  readonly isLasting: boolean;
  readonly bytes: number;
  readonly taskId: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
  readonly reservation: { readonly node: string; readonly leaseEnd: number } | undefined;
}

/** The tables of one storage. */
export class Tables {
  readonly undo = new Undo();
  readonly tasks = new Table<TaskRow>(this.undo);
  readonly records = new Table<RecordTexts>(this.undo);
  readonly turns = new Table<TurnRow>(this.undo);
  readonly queues = new Table<QueueRow>(this.undo);
  readonly keys = new Table<KeyRow>(this.undo);

  head(name: string): TaskHead | undefined {
    const row = this.tasks.get(name);
    // `head` is what claims look at.
    const self = {
      get head() {
        return this as unknown as TaskHead;
      },
    };
    return row && Object.assign(self, row);
  }

  putHead({ head: _, ...row }: TaskHead): void {
    this.tasks.put(row.name, row);
  }
}

export function nameOf({ agent, tenant, owner }: Scope, id: string): string {
  return JSON.stringify([agent, tenant, owner, id]);
}

export function isIn(scope: Scope, { agent, tenant, owner }: Scope): boolean {
  return scope.agent === agent && scope.tenant === tenant && scope.owner === owner;
}
