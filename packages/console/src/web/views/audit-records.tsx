import { useSignal } from '@preact/signals';
import type { AuditRecord } from 'parley-a2a/server';
import { useCallback, useEffect } from 'preact/hooks';
import { readAudit } from '../operator.js';
import { shownName } from '../shown-name.js';
import { Empty, Failure } from './controls.js';
import { OperatorTable } from './operator-table.js';

interface Read {
  readonly records: readonly AuditRecord[];
  readonly unreadable: number;
  readonly next: string | undefined;
}

/** The audit records of the server, the last one first. They are read once, and again on request. */
export function AuditRecords({ agent }: { readonly agent: string | undefined }) {
  const read = useSignal<Read>({ records: [], unreadable: 0, next: undefined });
  const failure = useSignal<string | undefined>(undefined);
  const load = useCallback(
    async (earlier?: Read): Promise<void> => {
      const cursor = earlier?.next;
      try {
        const page = await readAudit({ agent, ...(cursor !== undefined && { cursor }) });
        read.value = {
          records: [...(earlier?.records ?? []), ...page.records],
          unreadable: (earlier?.unreadable ?? 0) + page.unreadable,
          next: page.next,
        };
        failure.value = undefined;
      } catch (error) {
        failure.value = (error as Error).message;
      }
    },
    [agent, read, failure],
  );
  useEffect(() => void load(), [load]);
  const { records, unreadable, next } = read.value;
  return (
    <section aria-label="Audit records">
      <h2>Audit records</h2>
      <p class="facts">
        <span>The last one first</span>
        {unreadable > 0 && <span>{unreadable} lines that are no records</span>}
        <button type="button" class="quiet" onClick={() => void load()}>
          Read again
        </button>
      </p>
      {failure.value !== undefined && <Failure>{shownName(failure.value, 400)}</Failure>}
      {records.length === 0 && failure.value === undefined && (
        <Empty title="No audit records">Calls of agents and refusals appear here.</Empty>
      )}
      {records.length > 0 && (
        <OperatorTable
          caption="Audit records"
          columns={['Time', 'Outcome', 'Operation', 'Who', 'Agent', 'Task', 'Code']}
        >
          {records.map((record) => (
            <tr key={record.id}>
              <td>
                <time dateTime={String(record.time)}>{shownName(String(record.time), 30)}</time>
              </td>
              <td>{shownName(String(record.outcome), 20)}</td>
              <td>{shownName(record.operation ?? `${record.method ?? ''} ${record.path ?? ''}`, 80)}</td>
              <td>
                <bdi>{shownName(nameOf(record), 60)}</bdi>
              </td>
              <td>
                <code>{shownName(record.agent ?? '', 60)}</code>
              </td>
              <td>
                <code>{shownName(record.taskId ?? '', 60)}</code>
              </td>
              <td>{shownName(String(record.code), 40)}</td>
            </tr>
          ))}
        </OperatorTable>
      )}
      {next !== undefined && (
        <button type="button" onClick={() => void load(read.value)}>
          Show earlier ones
        </button>
      )}
    </section>
  );
}

function nameOf({ principal }: AuditRecord): string {
  return principal?.kind === 'user' ? principal.id : String(principal?.kind ?? '');
}
