export { type LangGraphAgentOptions, langGraphAgent } from './langgraph-agent.js';
export type {
  GraphInterrupt,
  GraphSnapshot,
  GraphTask,
  RunnableGraph,
} from './runnable-graph.js';
export { type ThreadOwner, threadIdOf } from './thread-id.js';
