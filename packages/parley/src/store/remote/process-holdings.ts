import { isTerminal } from '../../model/task-state.js';
import type { ClaimRequest, Claims, HeldTurn, Lease, Renewal } from '../held-turn.js';
import type { DeliveryClaims, DeliveryKey, DeliveryOutcome, HeldDelivery } from '../push-storage.js';
import { type TaskKey, taskKeyText } from '../task-key.js';
import type { Acceptance, AcceptOutcome, Append, AppendOutcome, TaskStorage } from '../task-storage.js';
import type { RemoteCall } from './remote-calls.js';

/**
 * The turns and deliveries that one process holds, derived from its calls. When it ends, other processes can claim them
 * at once.
 */
export class ProcessHoldings {
  readonly #storage: TaskStorage;
  readonly #turns = new Map<string, HeldTurn>();
  readonly #deliveries = new Map<string, HeldDelivery>();
  #node = '';

  constructor(storage: TaskStorage) {
    this.#storage = storage;
  }

  /** Records what a call has claimed or released. */
  note(call: RemoteCall, args: readonly unknown[], result: unknown): void {
    switch (call) {
      case 'accept': {
        const { scope, claim } = args[0] as Acceptance;
        const outcome = result as AcceptOutcome;
        if (outcome.kind !== 'accepted' || outcome.claim === undefined || claim === undefined) return;
        const { turn, epoch } = outcome.claim;
        this.#node = claim.node;
        return this.#hold({ key: { scope, id: outcome.taskId }, turn, epoch });
      }
      case 'claim':
        this.#node = (args[0] as ClaimRequest).node;
        for (const { scope, task, turn, epoch } of (result as Claims).claims)
          this.#hold({ key: { scope, id: task.id }, turn, epoch });
        return;
      case 'renew': {
        const { node, turns } = args[0] as Lease & { readonly turns: readonly HeldTurn[] };
        this.#node = node;
        // After a restart of the storage process, renewals report the running turns.
        for (const [at, turn] of turns.entries())
          if ((result as readonly Renewal[])[at]?.held === true) this.#hold(turn);
        return;
      }
      case 'append': {
        const { key, head, endsTurn } = args[0] as Append;
        const isKept = (result as AppendOutcome).kind === 'appended' && endsTurn === undefined;
        if (!isKept || isTerminal(head.status.state)) this.#turns.delete(taskKeyText(key));
        return;
      }
      case 'release':
        this.#turns.delete(taskKeyText((args[0] as HeldTurn).key));
        return;
      case 'push.claim':
        for (const { key, configId, epoch } of (result as DeliveryClaims).claims)
          this.#deliveries.set(deliveryText({ key, configId }), { key, configId, epoch });
        return;
      case 'push.settle': {
        const outcome = args[1] as DeliveryOutcome;
        const isKept = outcome.kind === 'held' || (outcome.kind === 'delivered' && outcome.leaseMs !== undefined);
        if (!isKept) this.#deliveries.delete(deliveryText(args[0] as HeldDelivery));
        return;
      }
    }
  }

  /** Ends all leases. A turn that has ended in the meantime is unchanged. */
  async giveUp(): Promise<void> {
    const turns = [...this.#turns.values()];
    const deliveries = [...this.#deliveries.values()];
    this.#turns.clear();
    this.#deliveries.clear();
    const { push, wakeups } = this.#storage;
    await Promise.all([
      turns.length > 0 && this.#storage.renew({ node: this.#node, leaseMs: 0, turns }),
      ...deliveries.map((held) => push.settle(held, { kind: 'defer', inMs: 0 })),
    ]);
    for (const agent of agentsOf(turns)) wakeups.workReady(agent);
    for (const agent of agentsOf(deliveries)) wakeups.deliveryReady(agent);
  }

  #hold(turn: HeldTurn): void {
    this.#turns.set(taskKeyText(turn.key), turn);
  }
}

function deliveryText({ key, configId }: DeliveryKey): string {
  return `${configId.length} ${configId} ${taskKeyText(key)}`;
}

function agentsOf(held: readonly { readonly key: TaskKey }[]): ReadonlySet<string> {
  return new Set(held.map(({ key }) => key.scope.agent));
}
