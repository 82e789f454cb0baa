import { CLIENT_VERSIONS } from '../../../packages/parley/src/codec/client-codecs.js';
import type { BindingRow, MatrixVersion } from './bindings.js';
import { INPUT_LIMITS } from './input-limits.js';
import { KIT_SCENARIOS } from './kit-scenarios.js';
import { normalizeOutcome } from './outcome.js';
import { REFUSALS } from './refusals.js';
import { type MatrixScenario, SCENARIOS } from './scenarios.js';
import type { World } from './world.js';

/** Every scenario of the matrix. */
export const ALL: readonly MatrixScenario[] = [...SCENARIOS, ...KIT_SCENARIOS, ...REFUSALS, ...INPUT_LIMITS];
/** The scenarios of a cell that run at the same time. */
const AT_ONCE = 12;

/** The outcome of each scenario in a cell, by name. An error of the scenario itself is its outcome. */
export async function outcomesOf(world: World, binding: BindingRow, version: MatrixVersion) {
  const outcomes = new Map<string, unknown>();
  const codec = (await CLIENT_VERSIONS.get(version)?.())?.jsonRpc;
  const left = ALL.filter(
    ({ name, operation, versions }) =>
      (operation === undefined ||
        (codec?.methodOf(operation) !== undefined && binding.operations?.includes(operation) !== false)) &&
      versions?.includes(version) !== false &&
      binding.without?.(version).some((end) => name.endsWith(end)) !== true,
  );
  using cell = world.cell(binding, version);
  const worker = async () => {
    for (let scenario = left.shift(); scenario !== undefined; scenario = left.shift()) {
      const outcome = await scenario.play(cell).catch((error: unknown) => ({ failed: String(error) }));
      outcomes.set(scenario.name, normalizeOutcome(outcome, cell));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}
