import { refuseArgument } from '../options/refuse-argument.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import type { EventQueue } from '../server/event-queue.js';
import type { RequestContext } from '../server/request-context.js';
import { ApprovalNeededError, ToolError } from './tool.js';
import { TOOLS_CARD_EXTENSION } from './tool-records.js';
import type { ToolRegistry } from './tool-registry.js';
import { ToolRun, type ToolRunOptions } from './tool-run.js';

/**
 * Runs the body of an agent with tools whose calls are recorded in its task. If a call needs an approval, the task asks
 * its owner, and the turn ends. The body runs again on the answer, and must make the same calls, or `resume` them. If
 * the body ends the task, unfinished calls are canceled. If it asks a question of its own, the same message asks for
 * the waiting approvals. A `ToolError` that the body throws fails the task with its message.
 */
export async function runTools(
  context: RequestContext,
  events: EventQueue,
  tools: ToolRegistry,
  body: (run: ToolRun) => Promise<void> | void,
  options: ToolRunOptions = {},
): Promise<void> {
  if (Object(context).message === undefined)
    refuseArgument('runTools', 'the context and the events of a turn, tools and a function', context);
  checkTools('runTools', tools, body);
  const run = new ToolRun({ context, events, tools, options });
  try {
    if (!run.isStray) await body(run);
  } catch (error) {
    // The engine ends a turn that was aborted.
    if (error instanceof ToolError) return context.signal.aborted ? undefined : await events.fail(error.message);
    if (!(error instanceof ApprovalNeededError)) {
      // The engine fails the task. After an abort, another attempt may resume the calls.
      if (!context.signal.aborted) run.close();
      throw error;
    }
  }
  await run.ask();
}

/** The turn in which the body runs. */
export interface ToolTurn {
  readonly context: RequestContext;
  readonly events: EventQueue;
}

/**
 * Makes an agent whose body calls tools. A turn runs again if its process died, and finished calls do not run again.
 * The card declares the extension of the calls. `runTools` has the rules for the body.
 */
export function toolAgent(
  tools: ToolRegistry,
  body: (run: ToolRun, turn: ToolTurn) => Promise<void> | void,
  options: ToolRunOptions = {},
): AgentExecutor {
  checkTools('toolAgent', tools, body);
  return {
    resumable: true,
    extensions: [TOOLS_CARD_EXTENSION],
    execute: (context, events) => runTools(context, events, tools, (run) => body(run, { context, events }), options),
  };
}

function checkTools(subject: string, tools: unknown, body: unknown): void {
  if (typeof Object(tools).list !== 'function') refuseArgument(subject, 'a ToolRegistry', tools);
  if (typeof body !== 'function') refuseArgument(subject, 'a function that runs the tools', body);
}
