// For `parley-a2a-testing`, which names its exact version: these names may change in every version.

export { agentCheckpoint } from '../server/execution/turn-checkpoint.js';
export { type Intercept, interceptedStorage } from '../store/intercepted-storage.js';
export { type InProcessHost, startInProcess } from './in-process-host.js';
