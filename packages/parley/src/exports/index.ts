/**
 * Everything for ordinary servers and clients on Node.js, Deno and Bun. Other hosts get `web.ts` under the same name.
 */
export * from './everywhere.js';
export {
  type A2AHost,
  type A2AHostOptions,
  type A2AServer,
  type A2AServerOptions,
  createA2AHost,
  createA2AServer,
  readServerConfig,
  type ServerConfig,
} from './node.js';
export { type TextLoggerOptions, textLogger } from './stderr-logger.js';
export { openStorage } from './storage.js';
