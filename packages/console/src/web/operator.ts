import { computed, signal } from '@preact/signals';
import type { TaskState } from 'parley-a2a';
import type { ClusterStatus } from 'parley-a2a/operator';
import type { AuditPage } from 'parley-a2a/server';
import { agents } from './agents.js';
import { credentialProvider } from './credentials.js';
import { fetchHere } from './launch.js';

const PATH = '/operator/v1';
const TOKEN_KEY = 'parley-console:operator';
const TOKEN_HEADER = 'operator-token';
const UNFINISHED: readonly TaskState[] = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
];
/** Maximum number of requests for tasks or counts. One returns up to 100 tasks, or counts 200 owners. */
const MOST_PAGES = 5;

/** A task of any owner, without its content. */
export interface OperatorTask {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly state: TaskState;
  readonly ageMs: number;
  /** Time since its last status. */
  readonly silentMs?: number;
  readonly lease: 'held' | 'ended' | 'none';
}

/** A webhook that was given up. */
export interface ParkedDelivery extends Pick<OperatorTask, 'agent' | 'tenant' | 'owner'> {
  readonly taskId: string;
  readonly configId: string;
  readonly pendingEvents: number;
  readonly attempts: number;
  readonly parked: string;
}

/** The tasks to show. */
export interface TaskFilter {
  /** Default: all states that are not terminal. */
  readonly state?: TaskState | undefined;
  readonly agent?: string | undefined;
  readonly owner?: string | undefined;
}

/** Tasks by state. */
export interface Counts {
  readonly byState: Readonly<Partial<Record<TaskState, number>>>;
  /** True if the server has more owners than were counted. */
  readonly isPart: boolean;
}

/** The contents of the operator page, except for audit records. */
export interface Overview {
  readonly status: ClusterStatus;
  readonly counts: Counts;
  readonly tasks: readonly OperatorTask[];
  /** True if the server has more of these tasks. */
  readonly hasMoreTasks: boolean;
  readonly parked: readonly ParkedDelivery[];
  readonly hasMoreParked: boolean;
}

/** The token that the user has entered. It is stored as long as the tab. */
export const operatorToken = signal(sessionStorage.getItem(TOKEN_KEY));

/** Stores or deletes the token of an operator. */
export function keepOperatorToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, token);
  operatorToken.value = token;
}

/** The agent whose credential is sent to the operator API. */
const signedIn = computed(() => agents.value?.find(({ credential }) => credential !== undefined));

/** True if the page has a credential for the operator API. */
export const mayBeOperator = computed(() => operatorToken.value !== null || signedIn.value !== undefined);

/** Reads tasks, webhooks and replicas: first tasks whose replica was lost, then the longest silent. */
export async function readOverview(filter: TaskFilter): Promise<Overview> {
  const [status, counts, parked, { tasks, hasMore }] = await Promise.all([
    call<ClusterStatus>('/status'),
    readCounts(filter.agent),
    call<{ readonly deliveries: readonly ParkedDelivery[]; readonly next?: string }>('/deliveries?standing=parked'),
    readTasks(filter),
  ]);
  return {
    ...{ status, counts },
    tasks: tasks.toSorted(bySilence),
    hasMoreTasks: hasMore,
    parked: parked.deliveries,
    hasMoreParked: parked.next !== undefined,
  };
}

async function readTasks({ state, agent, owner }: TaskFilter) {
  const query = new URLSearchParams([
    ['limit', '100'],
    ...(state === undefined ? UNFINISHED : [state]).map((one) => ['state', one]),
    ...(agent === undefined ? [] : [['agent', agent]]),
    ...(owner === undefined ? [] : [['owner', owner]]),
  ]);
  const tasks: OperatorTask[] = [];
  const read = (cursor: string) =>
    call<{ readonly tasks: readonly OperatorTask[]; readonly next?: string }>(`/tasks?${query}${cursor}`);
  const hasMore = await eachPage(read, (page) => tasks.push(...page.tasks));
  return { tasks, hasMore };
}

async function readCounts(agent: string | undefined): Promise<Counts> {
  const query = new URLSearchParams(agent === undefined ? {} : { agent });
  const byState: Partial<Record<TaskState, number>> = {};
  const read = (cursor: string) =>
    call<{ readonly counts: Counts['byState']; readonly next?: string }>(`/counts?${query}${cursor}`);
  const isPart = await eachPage(read, ({ counts }) => {
    for (const [state, count] of Object.entries(counts) as [TaskState, number][])
      byState[state] = (byState[state] ?? 0) + count;
  });
  return { byState, isPart };
}

/** Reads pages until the last one, or until the limit. Resolves to whether there are more. */
async function eachPage<Page extends { readonly next?: string }>(
  read: (cursor: string) => Promise<Page>,
  add: (page: Page) => void,
): Promise<boolean> {
  let cursor = '';
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const page = await read(cursor);
    add(page);
    if (page.next === undefined) return false;
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
  return true;
}

function bySilence(one: OperatorTask, other: OperatorTask): number {
  const stuck = Number(other.lease === 'ended') - Number(one.lease === 'ended');
  return stuck || (other.silentMs ?? other.ageMs) - (one.silentMs ?? one.ageMs);
}

/** Reads audit records, the last one first. */
export function readAudit({ agent, cursor }: { readonly agent?: string | undefined; readonly cursor?: string }) {
  const query = new URLSearchParams({ ...(agent !== undefined && { agent }), ...(cursor !== undefined && { cursor }) });
  return call<AuditPage>(`/audit?${query}`);
}

/** Reads a task with its first records. */
export function readTask({ agent, tenant, owner, id }: OperatorTask): Promise<unknown> {
  const scope = new URLSearchParams({ agent, tenant, ...(owner !== null && { owner }) });
  return call(`/tasks/${encodeURIComponent(id)}?${scope}`);
}

/** Retries the events of a webhook. */
export async function replayDelivery(delivery: ParkedDelivery): Promise<void> {
  const { agent, tenant, owner, taskId, configId } = delivery;
  const body = JSON.stringify({ agent, tenant, owner, taskId, configId });
  await call('/replays', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
}

/** @throws Error with a text for the user, if the server refuses. */
async function call<Answer>(path: string, init: RequestInit = {}): Promise<Answer> {
  const url = new URL(`${PATH}${path}`, location.origin);
  const headers = new Headers(init.headers);
  const agent = signedIn.value;
  if (operatorToken.value !== null) headers.set(TOKEN_HEADER, operatorToken.value);
  else if (agent?.credential !== undefined) {
    const provider = credentialProvider(agent.credential, agent.path);
    const credentials = await provider.credentials({ card: agent.card, url: url.href });
    for (const [name, value] of Object.entries(credentials.headers ?? {})) headers.set(name, value);
    for (const [name, value] of Object.entries(credentials.query ?? {})) url.searchParams.set(name, value);
  }
  const answer = await fetchHere(url.href, { ...init, headers });
  if (answer.ok) return (await answer.json()) as Answer;
  const { error } = (await answer.json().catch(() => ({}))) as { readonly error?: { readonly message?: string } };
  throw new Error(error?.message ?? `the server answered ${answer.status}`);
}
