import type { FileScope, FileStore, StoredFile } from '../files/file-store.js';
import { cloneJson } from '../model/clone-json.js';
import type { Message } from '../model/message.js';
import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';
import type { Task } from '../model/task.js';
import type { Scope } from '../store/task-key.js';
import type { TaskStorage } from '../store/task-storage.js';
import { keysOf, type OwnerDataOptions, tasksOf } from './owner-data.js';

/** The agent and the tenant of a record. "" is no tenant. */
type RecordPlace = Pick<Scope, 'agent' | 'tenant'>;

/**
 * A record of an export, as a line of JSON. The first record is the header, the last one the end: an export without the
 * end is incomplete. Tasks are those of 1.0 (Spec §4.1.1), with their history and artifacts. Times are ISO 8601.
 */
export type OwnerRecord =
  | { readonly type: 'header'; readonly format: 1; readonly owner: string | null; readonly exportedAt: string }
  | (RecordPlace & { readonly type: 'task'; readonly createdAt: string; readonly task: Task })
  /** The token and the credentials are masked. */
  | (RecordPlace & { readonly type: 'pushNotificationConfig'; readonly config: TaskPushNotificationConfig })
  | (RecordPlace & {
      readonly type: 'idempotencyKey';
      readonly key: string;
      readonly expiresAt: string;
      readonly taskId?: string;
      readonly reply?: Message;
    })
  /** `path`: the place of the bytes in an export folder. Absent for a file that has expired. */
  | (RecordPlace & { readonly type: 'file'; readonly file: OwnerFileFacts; readonly path?: string })
  | { readonly type: 'end'; readonly counts: ExportedCounts };

/** The facts of an exported file. `digest`: the SHA-256 of its bytes, in base64. */
export interface OwnerFileFacts extends Omit<StoredFile, 'createdAt' | 'expiresAt'> {
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** The counts of an export. */
export interface ExportedCounts {
  readonly tasks: number;
  readonly pushNotificationConfigs: number;
  readonly idempotencyKeys: number;
  readonly files: number;
}

/** The place of a file of a record, for its bytes. */
export interface ExportedFile {
  readonly scope: FileScope;
  readonly id: string;
}

/** Tasks with history and artifacts, in pages of about 4 MB of JSON. */
const WHOLE_TASKS = { orderBy: 'created', limit: 50, maxBytes: 4_194_304, artifacts: true, history: true } as const;
const CONFIGS = 100;
const MASKED = '***';

/**
 * Reads all data of a user, record by record, with one page in memory at a time. Data that the user adds meanwhile may
 * be missing. `counts` counts the records. `onFile` is called before the record of a file. It resolves to false if the
 * file no longer has bytes.
 * @throws StorageError if the storage fails.
 */
export async function* ownerRecords(
  { storage, files, owner, clock }: Omit<OwnerDataOptions, 'audit' | 'ids'>,
  counts: { -readonly [Name in keyof ExportedCounts]: ExportedCounts[Name] },
  onFile: (file: ExportedFile, path: string) => Promise<boolean>,
): AsyncGenerator<OwnerRecord> {
  yield { type: 'header', format: 1, owner: owner.owner, exportedAt: isoTime(clock.now()) };
  for (const scope of await storage.owners.scopes(owner)) {
    const place = { agent: scope.agent, tenant: scope.tenant };
    for await (const { task, createdAt } of tasksOf(storage, { scope, ...WHOLE_TASKS })) {
      counts.tasks += 1;
      yield { type: 'task', ...place, createdAt: isoTime(createdAt), task };
      for await (const config of configsOf(storage, scope, task.id)) {
        counts.pushNotificationConfigs += 1;
        yield { type: 'pushNotificationConfig', ...place, config: maskSecrets(config) };
      }
    }
    for await (const { key, expiresAt, taskId, reply } of keysOf(storage, scope)) {
      counts.idempotencyKeys += 1;
      const outcome = {
        ...(taskId !== null && { taskId }),
        ...(reply !== null && { reply: JSON.parse(reply) as Message }),
      };
      yield { type: 'idempotencyKey', ...place, key, expiresAt: isoTime(expiresAt), ...outcome };
    }
  }
  for await (const { scope, file } of filesOf(files, owner)) {
    // An id has 32 hex digits, and is unique only within its scope.
    const path = `files/${String(counts.files + 1).padStart(6, '0')}-${file.id}`;
    const hasBytes = file.expiresAt > clock.now() && (await onFile({ scope, id: file.id }, path));
    const facts = { ...file, createdAt: isoTime(file.createdAt), expiresAt: isoTime(file.expiresAt) };
    counts.files += 1;
    yield { type: 'file', agent: scope.agent, tenant: scope.tenant, file: facts, ...(hasBytes && { path }) };
  }
  yield { type: 'end', counts };
}

async function* filesOf(files: FileStore | undefined, owner: OwnerDataOptions['owner']) {
  if (files?.owners !== undefined) yield* files.owners.list(owner);
}

async function* configsOf(storage: TaskStorage, scope: Scope, taskId: string) {
  let cursor: string | undefined;
  for (;;) {
    const range = { limit: CONFIGS, ...(cursor !== undefined && { cursor }) };
    const page = (await storage.push.configs(scope, taskId, range)) ?? [];
    yield* page;
    cursor = page.at(-1)?.id;
    if (page.length < CONFIGS || cursor === undefined) return;
  }
}

/** The configuration in the form of the protocol, without secrets. The path and the query of a url may be secrets. */
function maskSecrets(
  config: TaskPushNotificationConfig & { readonly registeredIn?: string },
): TaskPushNotificationConfig {
  const { registeredIn: _, url, token, authentication, ...rest } = cloneJson(config);
  const { origin } = URL.parse(url) ?? {};
  return {
    ...rest,
    url: origin === undefined || origin === 'null' ? MASKED : `${origin}/${MASKED}`,
    ...(token !== undefined && { token: MASKED }),
    ...(authentication !== undefined && {
      authentication: { ...authentication, ...(authentication.credentials !== undefined && { credentials: MASKED }) },
    }),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
