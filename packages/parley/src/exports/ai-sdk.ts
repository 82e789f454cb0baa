export {
  fromStreamText,
  type ShownOptions,
  type StreamedText,
  type StreamTextTurn,
} from '../model-sdks/ai-sdk/from-stream-text.js';
export { type ModelMessagesOptions, toModelMessages } from '../model-sdks/ai-sdk/model-messages.js';
export { MODEL_OUTPUT_EXTENSION, type ModelUsage } from '../model-sdks/ai-sdk/model-output.js';
export {
  type StreamTextAgentOptions,
  type StreamTextAgentSource,
  streamTextAgent,
} from '../model-sdks/ai-sdk/stream-text-agent.js';
