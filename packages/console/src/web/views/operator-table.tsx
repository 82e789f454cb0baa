import type { ComponentChildren } from 'preact';
import type { OperatorTask } from '../operator.js';
import { shownName } from '../shown-name.js';
import { focusable } from './controls.js';

interface TableShape {
  /** For screen readers. */
  readonly caption: string;
  readonly columns: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table of the operator page. It scrolls if the window is narrow. */
export function OperatorTable({ caption, columns, children }: TableShape) {
  return (
    <div class="scroll" {...focusable}>
      <table class="operator-table">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** The cells of an agent and an owner. */
export function ScopeCells({ agent, tenant, owner }: Pick<OperatorTask, 'agent' | 'tenant' | 'owner'>) {
  return (
    <>
      <td>
        <code>{shownName(agent, 60)}</code>
      </td>
      <td>
        <bdi>{owner === null ? 'Anonymous' : shownName(owner, 60)}</bdi>
        {tenant !== '' && <bdi> in {shownName(tenant, 40)}</bdi>}
      </td>
    </>
  );
}

/** A time in words. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
