import type { EventQueue } from '../src/server/event-queue.js';
import type { RequestContext } from '../src/server/request-context.js';
import type { Step } from './engine-commands.js';
import type { ManualClock } from './manual-clock.js';

/** A turn of the scripted agent. */
export interface AgentTurn {
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly clock: ManualClock;
}

/** An agent that does what its message says, step by step. */
export async function runScript(turn: AgentTurn): Promise<void> {
  const part = turn.context.message.parts[0];
  const steps = part && part.data !== undefined ? (part.data as readonly Step[]) : [];
  for (const step of steps) await take(step, turn);
}

/** Does one step. */
async function take(step: Step, { context, events, clock }: AgentTurn): Promise<void> {
  switch (step) {
    case 'working':
      return events.working('busy');
    case 'artifact':
      return void (await events.artifact('whole', { artifactId: 'x' }));
    case 'append':
      return events.append('x', 'chunk '.repeat(10));
    case 'flush':
      return events.flush();
    case 'pause':
      return new Promise((resolve) => void clock.after(50, resolve));
    case 'yield':
      return Promise.resolve();
    case 'input':
      return events.inputRequired('and?');
    case 'auth':
      return events.authRequired('who?');
    case 'complete':
      return events.complete('done');
    case 'fail':
      return events.fail();
    case 'reject':
      return events.reject('no');
    case 'message':
      return events.message('hello');
    case 'submitted':
      return events.publish({ task: { status: { state: 'TASK_STATE_SUBMITTED' } } });
    case 'throw':
      throw new Error('agent broke');
    case 'garbage':
      return events.publish({ artifactUpdate: { artifact: { artifactId: '', parts: [] } } });
    case 'until-aborted':
      return new Promise((resolve) => {
        if (context.signal.aborted) resolve();
        context.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    case 'hang':
      return new Promise((resolve) => void clock.after(20_000, resolve));
  }
}
