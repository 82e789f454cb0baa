import { createInterface } from 'node:readline/promises';
import type { FileStore } from 'parley-a2a/files';
import type { FileAuditLog } from 'parley-a2a/node';
import type { OwnerCounts, OwnerQuery, TaskStorage } from 'parley-a2a/storage';
import type { Invocation } from '../command-line/invocation.js';
import { openDatabase } from '../database/open-database.js';
import { CliError, usageError } from '../failure/cli-error.js';
import { storageFault } from '../failure/failure.js';
import { auditIn } from '../serve/operator-files.js';
import type { Settings } from '../settings/settings.js';

/** Number of records between two lines of progress, if stderr is no terminal. */
const STEP = 10_000;

const LABELS: Readonly<Record<string, string>> = {
  scopes: 'Task spaces',
  tasks: 'Tasks',
  openTasks: 'Tasks that have not ended',
  canceledTurns: 'Canceled turns',
  pushNotificationConfigs: 'Webhooks',
  idempotencyKeys: 'Idempotency keys',
  files: 'Files',
  uploads: 'Uploads',
};

/** Exports the data of a user into a folder. */
export async function exportData(invocation: Invocation): Promise<number> {
  const { settings } = invocation;
  const to = settings.text('to');
  if (to === undefined) throw usageError('--to names the folder to make', 'parley help db export');
  return withOwner(invocation, async ({ owner, storage, files, audit }) => {
    await countData(invocation, { owner, storage, files });
    const { exportOwner } = await import('parley-a2a/node');
    const onProgress = progressOf(invocation);
    const force = settings.isOn('force');
    show(invocation, await exportOwner({ owner, storage, files, audit, to, force, onProgress }), { to });
    return 0;
  });
}

/** Erases the data of a user. */
export async function erase(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const isDryRun = settings.isOn('dry-run');
  const isConfirmed = isDryRun || settings.isOn('yes');
  if (!isConfirmed && process.stdin.isTTY !== true) {
    throw usageError('without a terminal, --yes confirms the erasure', 'parley db erase --dry-run shows what would go');
  }
  return withOwner(invocation, async ({ owner, storage, files, audit }) => {
    const counts = await countData(invocation, { owner, storage, files });
    if (isDryRun) {
      show(invocation, counts, { dryRun: true });
      return 0;
    }
    if (!isConfirmed) {
      for (const [name, count] of Object.entries(counts)) output.note(`${LABELS[name] ?? name}: ${count}`);
      await confirmErasure(owner.owner ?? 'anonymous', invocation);
    }
    const { eraseOwner } = await import('parley-a2a/storage');
    show(invocation, await eraseOwner({ owner, storage, files, audit, onProgress: progressOf(invocation) }));
    return 0;
  });
}

interface OwnerPlaces {
  readonly owner: OwnerQuery;
  readonly storage: TaskStorage;
  readonly files: FileStore | undefined;
  readonly audit: FileAuditLog | undefined;
}

/** Runs a command on the database and the file store of the settings. The audit file is opened before them. */
async function withOwner({ settings }: Invocation, work: (places: OwnerPlaces) => Promise<number>): Promise<number> {
  const owner = ownerOf(settings);
  const folder = settings.text('file-store');
  const path = settings.text('audit-file');
  const audit = path === undefined ? undefined : await auditIn({ path, required: true });
  let storage: TaskStorage | undefined;
  let files: FileStore | undefined;
  try {
    storage = await openDatabase(settings);
    if (folder !== undefined) {
      const { statSync } = await import('node:fs');
      // The store would create a missing folder.
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw usageError(`${folder} is no folder`);
      files = (await import('parley-a2a/files')).directoryFileStore({ path: folder });
      await files.open?.();
    }
    return await work({ owner, storage, files, audit });
  } catch (error) {
    throw heldError(error);
  } finally {
    await files?.close?.();
    await storage?.close();
    await audit?.close();
  }
}

function ownerOf(settings: Settings): OwnerQuery {
  const id = settings.text('owner');
  const isAnonymous = settings.isOn('anonymous-owner');
  if ((id === undefined) === !isAnonymous) {
    throw usageError('--owner names the user, or --anonymous-owner the callers without a name: exactly one of them');
  }
  const [agent, tenant] = [settings.text('only-agent'), settings.text('only-tenant')];
  return { owner: id ?? null, ...(agent !== undefined && { agent }), ...(tenant !== undefined && { tenant }) };
}

/** Counts the data of the user. An id without data is probably wrong. */
async function countData({ output }: Invocation, places: Omit<OwnerPlaces, 'audit'>): Promise<OwnerCounts> {
  const { countOwner } = await import('parley-a2a/storage');
  const counts = await countOwner(places);
  if (Object.values(counts).every((count) => count === 0)) {
    output.warn('there are no data of this owner. An id has the issuer or the scheme before it, such as apikey|ada');
  }
  if (places.files === undefined) output.warn('files are left out: --file-store names their folder');
  return counts;
}

/** Replaces the error of files in use: the running server has functions for the same task. */
function heldError(error: unknown): unknown {
  if (!(error instanceof Error) || storageFault(error) !== 'in-use') return error;
  return new CliError('A2ACLI_ERR_USAGE', error.message, {
    cause: error,
    hint: 'call exportOwner() or eraseOwner() of that server in its process, or stop it (docs/user-data.md)',
  });
}

/**
 * Asks the operator to type the id.
 * @throws CliError for any other answer.
 */
async function confirmErasure(id: string, { output }: Invocation): Promise<void> {
  output.note(`This erases the data of ${id}. Nothing brings them back.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if ((await lines.question('Type the id of the owner to go on: ')) === id) return;
  } finally {
    lines.close();
  }
  throw usageError('the id differs: nothing was erased');
}

function progressOf({ output }: Invocation): (counts: object) => void {
  let told = 0;
  return (counts) => {
    const { tasks = 0, files = 0 } = counts as { readonly tasks?: number; readonly files?: number };
    const text = `${tasks} tasks, ${files} files`;
    if (output.watched) output.progress(text);
    else if (tasks + files - told >= STEP) {
      told = tasks + files;
      output.note(text);
    }
  };
}

function show({ output }: Invocation, counts: object, more: object = {}): void {
  if (output.json) return output.document({ ...counts, ...more });
  for (const [name, count] of Object.entries(counts)) output.field(LABELS[name] ?? name, String(count));
  if ('dryRun' in more) output.note('Nothing was erased: --dry-run');
}
