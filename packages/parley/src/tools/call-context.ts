import type { RequestContext } from '../server/request-context.js';
import { TRACING, type Tracing, tracingOf } from '../telemetry/tracing.js';
import type { ToolContext } from './tool.js';

/** The call for its tool. Most tools read little of it. */
export class CallContext implements ToolContext {
  readonly callId: string;
  readonly #turn: RequestContext;
  readonly #makeAsk: () => NonNullable<ToolContext['ask']>;
  #ask: ToolContext['ask'];

  constructor(callId: string, turn: RequestContext, makeAsk: () => NonNullable<ToolContext['ask']>) {
    this.callId = callId;
    this.#turn = turn;
    this.#makeAsk = makeAsk;
  }

  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  get taskId(): string {
    return this.#turn.taskId;
  }

  get contextId(): string {
    return this.#turn.contextId;
  }

  get user(): ToolContext['user'] {
    return this.#turn.user;
  }

  get tenant(): string {
    return this.#turn.tenant;
  }

  get [TRACING](): Tracing | undefined {
    return tracingOf(this.#turn);
  }

  get ask(): ToolContext['ask'] {
    this.#ask ??= this.#makeAsk();
    return this.#ask;
  }
}
