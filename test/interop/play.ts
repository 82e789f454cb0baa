import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { JsonObject, Outgoing } from './javascript-peer.js';
import { isArray, type Json, mismatches, type Scenario, type Turn } from './scenarios.js';

/** The ways to send a message and to learn what became of it. */
export const MODES = ['stream', 'blocking', 'immediate'] as const;
export type Mode = (typeof MODES)[number];

const ENDED = /COMPLETED|FAILED|CANCELED|REJECTED/;
const WAITING = /INPUT_REQUIRED|AUTH_REQUIRED/;

/** A client that plays scenarios, speaking v1.0 JSON on its upper side. */
export interface Peer {
  /** `Major.Minor` of the protocol that it speaks. */
  readonly version: string;
  /** As much of a pattern as the client lets its user see. */
  visible(pattern: Json): Json;
  send(outgoing: Outgoing): Promise<{ readonly task?: JsonObject; readonly message?: JsonObject }>;
  stream(outgoing: Outgoing): AsyncIterable<JsonObject>;
  subscribe(id: string, signal?: AbortSignal): AsyncIterable<JsonObject>;
  task(id: string): Promise<JsonObject>;
  /** Used in 1.0 only: older versions have no lists. */
  list?(filters: { readonly contextId: string; readonly includeArtifacts: boolean }): Promise<{
    readonly tasks: readonly JsonObject[];
    readonly totalSize: number;
  }>;
}

/** Plays a whole scenario with one client in one mode. Rejects if the agent violates the table. */
export async function play(peer: Peer, scenario: Scenario, mode: Mode): Promise<void> {
  let task: JsonObject | undefined;
  const contextId = randomUUID();
  const sent: string[] = [];
  for (const turn of scenario.turns) {
    const messageId = `${turn.send.messageId ?? 'message'}-${randomUUID()}`;
    sent.push(messageId);
    const follows = task === undefined ? { contextId } : { taskId: idOf(task) };
    const outgoing = { message: { parts: turn.send.parts, messageId, ...follows } };

    const begun = Date.now();
    const outcome = await PLAYERS[mode](peer, turn, outgoing);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(turn.atLeastMs ?? 0);

    if (turn.message !== undefined) {
      expect(mismatches(visiblePattern(peer, turn.message), outcome.message)).toEqual([]);
      expect(outcome.message?.contextId).toBe(contextId);
      continue;
    }
    const id = idOf(outcome.task);
    task = await peer.task(id);
    expect(mismatches(visiblePattern(peer, turn.task), task)).toEqual([]);
    expect(task.contextId).toBe(contextId);
    expectHistory(task, sent);
  }
  if (task !== undefined && peer.version === '1.0') await expectListed(peer, task, contextId);
}

function visiblePattern(peer: Peer, pattern: Json): Json {
  return peer.visible(pattern);
}

interface Outcome {
  readonly task?: JsonObject;
  readonly message?: JsonObject;
}

type Player = (peer: Peer, turn: Turn, outgoing: Outgoing) => Promise<Outcome>;

const PLAYERS: Readonly<Record<Mode, Player>> = {
  async stream(peer, turn, outgoing) {
    const events: JsonObject[] = [];
    for await (const event of peer.stream(outgoing)) events.push(event);
    expect(mismatches(visiblePattern(peer, turn.stream), events)).toEqual([]);
    expect(new Set(events.map(taskIdOf)).size).toBe(1);
    expect(new Set(events.map(contextIdOf)).size).toBe(1);
    const first = events[0] ?? {};
    return 'message' in first ? { message: first.message as JsonObject } : { task: first.task as JsonObject };
  },

  async blocking(peer, turn, outgoing) {
    const answer = await peer.send(outgoing);
    if (turn.task !== undefined) expect(mismatches(visiblePattern(peer, turn.task), answer.task)).toEqual([]);
    return answer;
  },

  async immediate(peer, turn, outgoing) {
    const answer = await peer.send({ ...outgoing, configuration: { returnImmediately: true } });
    if (answer.task === undefined) return answer;
    if (!('taskId' in outgoing.message)) expect(stateOf(answer.task)).toMatch(/SUBMITTED|WORKING/);
    await waitForTask(peer, idOf(answer.task), turn.task);
    return answer;
  },
};

/**
 * Waits by subscribing until the task is as the turn leaves it. The state alone is not enough, because the previous
 * turn may have ended in the same one.
 */
async function waitForTask(peer: Peer, id: string, expected: Json): Promise<void> {
  const { status } = expected as JsonObject;
  const isReached = (task: Json) => mismatches(peer.visible(expected), task).length === 0;
  if (isReached(await peer.task(id))) return;
  const leave = new AbortController();
  try {
    for await (const event of peer.subscribe(id, leave.signal)) {
      if (event.task !== undefined && isReached(event.task)) break;
      const change = event.statusUpdate as JsonObject | undefined;
      const state = change === undefined ? '' : stateOf(change);
      const asExpected = mismatches(peer.visible(status), change?.status).length === 0;
      if (ENDED.test(state) || (WAITING.test(state) && asExpected)) break;
    }
  } catch (error) {
    // It has ended between the look and the subscription.
    if (!isReached(await peer.task(id))) throw error;
  } finally {
    leave.abort();
  }
}

function expectHistory(task: JsonObject, sent: readonly string[]): void {
  const history = (isArray(task.history) ? task.history : []) as readonly JsonObject[];
  const ids = history.map((message) => message.messageId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(history.filter(({ role }) => role === 'ROLE_USER').map(({ messageId }) => messageId)).toEqual(sent);
}

async function expectListed(peer: Peer, task: JsonObject, contextId: string): Promise<void> {
  if (peer.list === undefined) return;
  const { tasks, totalSize } = await peer.list({ contextId, includeArtifacts: true });
  expect(totalSize).toBe(1);
  const { id, status, artifacts } = task;
  expect(tasks).toMatchObject([{ id, status, ...(artifacts !== undefined && { artifacts }) }]);
}

/** The id of a task. */
export function idOf(task: JsonObject | undefined): string {
  return String(task?.id);
}

/** The state of a task or a status event. */
export function stateOf(change: JsonObject): string {
  return String((change.status as JsonObject | undefined)?.state);
}

/** The task id of an event; of a direct message: none. */
export function taskIdOf(event: JsonObject): Json {
  const task = event.task as JsonObject | undefined;
  return task === undefined ? bodyOf(event).taskId : task.id;
}

function contextIdOf(event: JsonObject): Json {
  return bodyOf(event).contextId;
}

function bodyOf(event: JsonObject): JsonObject {
  return (Object.values(event)[0] ?? {}) as JsonObject;
}
