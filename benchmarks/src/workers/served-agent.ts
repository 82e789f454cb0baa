import { AGENTS } from '../subjects/parley-agents.js';

/** The agent that `parley serve` runs in each worker. */
export const agent = AGENTS[process.env.BENCH_KIND === 'task' ? 'task' : 'call'];
