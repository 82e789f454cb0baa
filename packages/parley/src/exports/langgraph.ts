export { type LangGraphAgentOptions, langGraphAgent } from '../model-sdks/langgraph/langgraph-agent.js';
export type {
  GraphInterrupt,
  GraphSnapshot,
  GraphTask,
  RunnableGraph,
} from '../model-sdks/langgraph/runnable-graph.js';
export { type ThreadOwner, threadIdOf } from '../model-sdks/langgraph/thread-id.js';
