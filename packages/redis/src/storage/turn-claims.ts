import {
  type Claim,
  type ClaimRequest,
  type Claims,
  claimOf,
  parseTurn,
  type TaskKey,
} from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import { type TaskPlace, taskKeyOf } from './redis-keys.js';
import { type RedisHead, type TaskContent, taskOf } from './task-texts.js';
import type { UnreadableTasks } from './unreadable-tasks.js';
import type { WorkPlaces } from './work-places.js';

/** The texts of a turn. */
type TurnTexts = readonly [message: string, caller: string, checkpoint: string | null, cancel: string | null];

type ClaimedTurn = readonly [name: string, attempts: string, handOvers: string, texts: TurnTexts, content: TaskContent];

type ClaimAnswer = readonly [turns: readonly ClaimedTurn[], more: 0 | 1];

/** Returns the claim of a turn that a node holds now. */
function readClaim(
  { scope, id }: TaskKey,
  [, attempts, handOvers, texts, content]: ClaimedTurn,
): { readonly claim: Claim; readonly head: RedisHead } {
  const [message, caller, checkpoint, cancel] = texts;
  const { head, task } = taskOf(id, content);
  const { seq, epoch, began, holder } = head;
  const counts = { attempt: Number(attempts) + 1, handOvers: Number(handOvers) };
  const turn = { ...counts, ...parseTurn({ message, caller, checkpoint, cancel }) };
  return { claim: claimOf({ scope, task, seq }, { turn: holder?.turn ?? 0, epoch, began }, turn), head };
}

/** The dependencies of the claims of turns. */
interface TurnClaimsOptions {
  readonly calls: RedisCalls;
  readonly work: WorkPlaces;
  readonly unreadable: UnreadableTasks;
  /** Called with each task whose turn this process has just claimed. */
  readonly onClaim: (task: TaskKey, head: RedisHead) => void;
}

/** Claims turns of all partitions, but only calls those that may have one. */
export class TurnClaims {
  readonly #calls: RedisCalls;
  readonly #work: WorkPlaces;
  readonly #unreadable: UnreadableTasks;
  readonly #claimed: TurnClaimsOptions['onClaim'];

  constructor({ calls, work, unreadable, onClaim }: TurnClaimsOptions) {
    this.#calls = calls;
    this.#work = work;
    this.#unreadable = unreadable;
    this.#claimed = onClaim;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    const { limit, maxBytes = Number.MAX_SAFE_INTEGER, task, agents } = request;
    if (task !== undefined) {
      if (!agents.includes(task.scope.agent)) return { claims: [], more: false };
      const place = this.#calls.keys.ofTask(task);
      const found = await this.#claimIn(place.partition, { ...request, maxBytes, agents: [task.scope.agent] }, place);
      return { claims: found.claims, more: found.more };
    }
    const claims: Claim[] = [];
    let bytes = 0;
    let more = false;
    const partitions = await this.#work.places(agents);
    for (const partition of partitions) {
      if (claims.length > 0 && (claims.length >= limit || bytes >= maxBytes)) return { claims, more: true };
      this.#work.removePlace(partition, agents);
      const wanted = { ...request, limit: limit - claims.length, maxBytes: maxBytes - bytes };
      const found = await this.#claimIn(partition, wanted, undefined).catch((error: unknown) => {
        for (const agent of agents) this.#work.ready(partition, agent);
        throw error;
      });
      if (found.more) for (const agent of agents) this.#work.ready(partition, agent);
      claims.push(...found.claims);
      bytes += found.bytes;
      more ||= found.more;
    }
    return { claims, more };
  }

  async #claimIn(
    partition: number,
    request: ClaimRequest & { readonly maxBytes: number },
    only: TaskPlace | undefined,
  ): Promise<Claims & { readonly bytes: number }> {
    const { node, leaseMs, limit, maxBytes, agents, holds } = request;
    const base = this.#calls.keys.base(partition);
    const held = (holds ?? []).flatMap(({ key, turn, epoch }) => {
      const place = this.#calls.keys.ofTask(key);
      return place.partition === partition ? [`${epoch} ${turn} ${place.name}`] : [];
    });
    const args = [
      node,
      leaseMs,
      limit,
      maxBytes,
      only?.name ?? '',
      holds === undefined ? 0 : 1,
      agents.length,
      ...agents.map((agent) => JSON.stringify(agent)),
      ...held,
    ];
    const place = { base, key: only?.key ?? this.#calls.keys.count(partition) };
    const [turns, more] = await this.#calls.run<ClaimAnswer>('claim', place, args);
    const claims: Claim[] = [];
    let bytes = 0;
    for (const turn of turns) {
      const [name, , , , content] = turn;
      const key = taskKeyOf(name);
      const claimed = await this.#unreadable.readOrSetAside(key, content, () => readClaim(key, turn));
      bytes += bytesOf(content);
      if (claimed === undefined) continue;
      this.#claimed(key, claimed.head);
      claims.push(claimed.claim);
    }
    return { claims, more: more === 1, bytes };
  }
}

function bytesOf([fields, records]: TaskContent): number {
  let bytes = 0;
  for (const field of fields) bytes += field?.length ?? 0;
  for (const record of records) bytes += record.length;
  return bytes;
}
