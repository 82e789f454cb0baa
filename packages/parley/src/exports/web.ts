import { OptionsError } from '../errors/options-error.js';
import { textLogger as textLoggerOf } from '../telemetry/text-logger.js';
import type * as node from './index.js';

export * from './everywhere.js';

/**
 * The root of the package has the same names on every host. These functions need Node.js, Deno or Bun, and throw
 * elsewhere.
 */
export const createA2AServer: typeof node.createA2AServer = () => refuse('createA2AServer');
export const createA2AHost: typeof node.createA2AHost = () => refuse('createA2AHost');
export const readServerConfig: typeof node.readServerConfig = () => refuse('readServerConfig');
export const openStorage: typeof node.openStorage = async () => refuse('openStorage');

/** There is no standard error here, so `write` is required. */
export const textLogger: typeof node.textLogger = ({ write, now = Date.now, level = 'info' } = {}) => {
  if (write === undefined) throw new OptionsError('textLogger', ['write: give a function that takes a line']);
  return textLoggerOf({ write, now, level });
};

function refuse(name: string): never {
  throw new OptionsError(name, ['needs Node.js, Deno or Bun. Use createAgentHandler here']);
}
