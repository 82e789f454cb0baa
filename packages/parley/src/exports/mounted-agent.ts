import { refuseArgument } from '../options/refuse-argument.js';
import type { AgentHandler } from './server.js';

/** @throws OptionsError for an argument that is no agent of `createAgentHandler`, such as a server or a function. */
export function checkHandler(subject: string, handler: Pick<AgentHandler, 'exchange'>): void {
  if (typeof Object(handler).exchange !== 'function')
    refuseArgument(subject, 'an agent of createAgentHandler()', handler);
}
