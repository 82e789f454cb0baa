import { isRefusal } from '../redis-url.js';

/** The first word of a refusal, and its explanation for an operator. */
const REASONS: Readonly<Record<string, string>> = {
  OOM: 'Redis has no memory left for writes: raise maxmemory, or shorten the retention',
  MISCONF: 'Redis cannot write to its disk',
  READONLY: 'the Redis server is a replica now: its primary has changed',
  LOADING: 'Redis is loading its data',
  BUSY: 'Redis is busy with another script',
  MASTERDOWN: 'the Redis replica has lost its primary',
  NOREPLICAS: 'Redis has fewer replicas than min-replicas-to-write asks for',
  CLUSTERDOWN: 'the Redis Cluster has slots without a primary',
  TRYAGAIN: 'the Redis Cluster is moving the slot of this partition',
  NOAUTH: 'Redis asks for a password',
  WRONGPASS: 'Redis refuses the user or its password',
  NOPERM: 'the user of Redis may not run this command',
};

/** Returns the reason of a failed command for an operator. It never contains the url, which may include a password. */
export function redisReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (!isRefusal(error)) return REASONS[codeOf(error)] ?? `the connection to Redis failed (${plainMessage(error)})`;
  return REASONS[codeOf(error)] ?? `Redis refused a command: ${error.message.slice(0, 200)}`;
}

/** Returns the reason without texts of the server and of the connection. */
export function shownReason(error: unknown): string {
  const known = error instanceof Error ? REASONS[codeOf(error)] : undefined;
  return known ?? (isRefusal(error) ? 'Redis refused a command' : 'the connection to Redis failed');
}

/** True if the failure means that Redis cannot be used now. False: only this command was refused. */
export function isOutage(error: unknown): boolean {
  return !isRefusal(error) || REASONS[codeOf(error)] !== undefined;
}

/** True if the server did not have a script. Then nothing was executed. */
export function isUnknownScript(error: unknown): boolean {
  return isRefusal(error) && codeOf(error) === 'NOSCRIPT';
}

function codeOf({ message }: Error): string {
  return /^[A-Z]+/.exec(message)?.[0] ?? '';
}

function plainMessage(error: Error & { readonly code?: unknown }): string {
  if (/enableOfflineQueue/.test(error.message)) return 'not connected';
  if (error.message === '' && typeof error.code === 'string') return error.code;
  return error.message.replace(/\/\/[^/@]*@/g, '//***@').slice(0, 200);
}
