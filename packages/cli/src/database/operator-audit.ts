import type { AuditRecord, FileAuditLog } from 'parley-a2a/node';
import type { DeliveryKey } from 'parley-a2a/storage';
import { CliError } from '../failure/cli-error.js';
import { auditIn } from '../serve/operator-files.js';
import type { Settings } from '../settings/settings.js';

/** An action of an operator on a database. */
interface OperatorAct {
  readonly operation: 'replayDelivery' | 'purgeDelivery' | 'resealConfigs';
  /** The queue that it changes. Absent for an action on the whole database. */
  readonly queue?: DeliveryKey;
}

/** Runs an action and writes an audit record of its result. `code` returns the code of that record. */
export type Audited = <Result>(
  act: OperatorAct,
  run: () => Promise<Result>,
  code?: (result: Result) => 'OK' | 'TASK_NOT_FOUND' | 'INVALID_PARAMS' | 'INTERNAL_ERROR',
) => Promise<Result>;

/**
 * Runs a command with the audit file of the settings, which is opened before anything changes. Without `--audit-file`
 * no records are written.
 * @throws CliError if the file cannot be opened, or if a record is lost.
 */
export async function withAudit(settings: Settings, work: (audited: Audited) => Promise<number>): Promise<number> {
  const path = settings.text('audit-file');
  if (path === undefined) return work((_, run) => run());
  const log = await auditIn({ path, required: true });
  try {
    return await work(async (act, run, code = () => 'OK') => {
      let result: Awaited<ReturnType<typeof run>>;
      try {
        result = await run();
      } catch (error) {
        await record(log, act, 'UNAVAILABLE');
        throw error;
      }
      await record(log, act, code(result));
      return result;
    });
  } finally {
    await log.close();
  }
}

async function record(log: FileAuditLog, { operation, queue }: OperatorAct, code: string): Promise<void> {
  const { agent, tenant = '' } = queue?.key.scope ?? {};
  const isRefused = code === 'TASK_NOT_FOUND' || code === 'INVALID_PARAMS';
  const entry: AuditRecord = {
    id: crypto.randomUUID(),
    time: new Date().toISOString(),
    outcome: code === 'OK' ? 'done' : isRefused ? 'refused' : 'failed',
    code,
    principal: { kind: 'operator' },
    ...(agent !== undefined && { agent }),
    ...(tenant !== '' && { tenant }),
    operation,
    ...(queue && { taskId: queue.key.id, configId: queue.configId }),
  };
  try {
    await log.write(entry);
  } catch (cause) {
    const message = `the record of ${operation} is lost: the audit log cannot be written`;
    throw new CliError('A2ACLI_ERR_INTERNAL', message, { cause, hint: 'the act may have had its effect' });
  }
}
