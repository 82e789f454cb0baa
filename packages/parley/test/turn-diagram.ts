import type { TurnInput, TurnState } from '../src/server/execution/turn-state.js';
import { TRANSITIONS } from '../src/server/execution/turn-transitions.js';

const STORING = /^storing /;
/** The inputs of a label are in this order. */
const INPUTS = Object.keys(TRANSITIONS.claimed) as TurnInput[];

/** The transitions of a turn as a Mermaid diagram. All states in which the task is being stored are drawn as one. */
export function turnDiagram(): string {
  const arrows = new Map<string, Set<string>>();
  for (const [state, row] of Object.entries(TRANSITIONS) as [TurnState, (typeof TRANSITIONS)[TurnState]][]) {
    for (const input of INPUTS) {
      const cell = row[input];
      if (cell === 'impossible' || cell.state === state || isWithinStoring(state, cell.state)) continue;
      const arrow = `${stateName(state)} --> ${stateName(cell.state)}`;
      arrows.set(arrow, (arrows.get(arrow) ?? new Set()).add(input));
    }
  }
  return [
    'stateDiagram-v2',
    '    state "handing back" as handing_back',
    '    state "handing over" as handing_over',
    '    state "handed over" as handed_over',
    '    [*] --> claimed',
    '    [*] --> drafted',
    ...Array.from(arrows, ([arrow, inputs]) => `    ${arrow}: ${labelOf(inputs)}`),
    '    ended --> [*]',
    '    handed_over --> [*]',
    '    lost --> [*]',
  ].join('\n');
}

/** Inputs that differ in their text alone are drawn as one. */
function labelOf(inputs: ReadonlySet<string>): string {
  const label = Array.from(inputs).join(', ');
  return label
    .replace('threw A2AError, threw denied, threw expired', 'threw A2AError')
    .replace('threw denied, threw expired, threw elsewhere', 'threw elsewhere')
    .replace('threw, threw A2AError, threw elsewhere', 'threw')
    .replace('threw, threw A2AError', 'threw')
    .replace('invalid, too fast, too large', 'invalid')
    .replace('rejected, terminal, message', 'terminal')
    .replace('chunk, announced, working, login, question, rejected, terminal, invalid', 'any event but a message');
}

/** While a task is being stored, its turn goes on as it would afterwards. */
function isWithinStoring(from: TurnState, to: TurnState): boolean {
  return STORING.test(from) && STORING.test(to);
}

function stateName(state: TurnState): string {
  if (STORING.test(state)) return 'storing';
  return state.replaceAll(' ', '_');
}
