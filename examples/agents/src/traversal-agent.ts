import type { AgentExecutor, AgentOptions } from 'parley-a2a/server';
import type { AgentClock } from './agent-clock.js';
import { CARD_DEFAULTS } from './card-defaults.js';
import { callAgent, FINISHED } from './traversal-call.js';
import { holdsTask, type Instruction, instructionOf } from './traversal-instruction.js';

const HELD_STEPS = 5;
const HELD_STEP_MS = 2_000;

/** The tools of the traversal agent. */
export interface TraversalTools {
  readonly clock: AgentClock;
  /** Calls another agent. */
  readonly call?: typeof callAgent;
}

/** Does what the instruction in a message says: returns texts, calls other agents, or both. */
export function traversalAgent({ clock, call = callAgent }: TraversalTools) {
  const executor: AgentExecutor = {
    async execute({ message, signal }, events) {
      await events.working();
      let text: string;
      try {
        const instruction = instructionOf(message.parts);
        text = (await texts(instruction, signal)).join('\n');
        if (!holdsTask(instruction)) return await events.complete(text);
        await events.working(`${text}\n${FINISHED}`);
      } catch (error) {
        if (signal.aborted) return;
        return events.fail(error instanceof Error ? error.message : String(error));
      }
      for (let step = 0; step < HELD_STEPS; step++) {
        if (!(await clock.pause(HELD_STEP_MS, signal))) return;
        await events.working();
      }
      // A caller that does not read the stream finds the texts here only.
      await events.complete(text);
    },
  };

  async function texts(instruction: Instruction, signal: AbortSignal): Promise<readonly string[]> {
    const { returnResponse, steps, callAgent } = instruction;
    if (returnResponse !== undefined) return [returnResponse.response ?? ''];
    if (callAgent !== undefined) return call(callAgent, signal);
    const all: string[] = [];
    for (const step of steps?.instructions ?? []) all.push(...(await texts(step, signal)));
    return all;
  }

  return {
    ...CARD_DEFAULTS,
    id: 'traversal',
    versions: ['1.0', '0.3'],
    agent: executor,
    name: 'Traversal Agent',
    description: 'Calls other agents as an instruction says, and returns their texts.',
    defaultInputModes: ['application/x-protobuf', 'text/plain'],
    skills: [
      {
        id: 'traversal',
        name: 'Traversal',
        description: 'Follows an instruction through agents of several SDKs.',
        tags: ['test', 'interoperability'],
        examples: ['A part with the bytes of an Instruction'],
      },
    ],
  } satisfies AgentOptions;
}
