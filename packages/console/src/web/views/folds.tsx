import type { Artifact } from 'parley-a2a';
import { shownName } from '../shown-name.js';
import { callsIn, type ShownCall } from '../tool-calls.js';
import { Json } from './controls.js';
import { Parts } from './parts.js';

/** Maximum number of calls per task here. Later ones are on its page. */
const MOST_CALLS = 200;

/** The calls of tools in an artifact, folded to a line each. */
export function ToolCalls({ artifact }: { readonly artifact: Artifact }) {
  const calls = callsIn(artifact.parts);
  if (calls.length === 0) return null;
  return (
    <ul class="calls" aria-label="Calls of tools">
      {calls.slice(-MOST_CALLS).map((call) => (
        <li key={call.id}>
          <Call call={call} />
        </li>
      ))}
    </ul>
  );
}

function Call({ call }: { readonly call: ShownCall }) {
  const { tool, state, input, output, failure } = call;
  const members = [
    ['Arguments', input],
    ['Result', output],
    ['Failure', failure],
  ] as const;
  return (
    <details class="fold call">
      <summary>
        <code>{shownName(tool, 60)}</code> <span class={`call-${shownName(state, 20)}`}>{shownName(state, 20)}</span>
      </summary>
      {members.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <p class="artifact-name">{name}</p>
              <Json value={value} label={`${name} of ${shownName(tool, 60)}`} />
            </div>
          ),
      )}
    </details>
  );
}

/** The reasoning of a model. It is open while the model has written nothing else. */
export function Reasoning({ artifact, isOpen }: { readonly artifact: Artifact; readonly isOpen: boolean }) {
  return (
    <details class="fold" open={isOpen}>
      <summary>Reasoning</summary>
      <div class="reasoning">
        <Parts parts={artifact.parts} />
      </div>
    </details>
  );
}
