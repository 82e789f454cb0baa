import { type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { AgentExecutor, StreamResponse } from 'parley-a2a';
import type { HostExtension } from 'parley-a2a/binding-kit';
import { type AgentPlace, type AroundAgent, mapHandler } from 'parley-a2a/kit';

/**
 * Makes the spans that `serverTracing()` makes of SendMessage, by the SDK alone and in the same places. It does nothing
 * else: it reads no trace context, passes none on and stores none.
 */
export class HandMadeSpans implements HostExtension {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  endpoints(): readonly [] {
    return [];
  }

  aroundAgent({ name: agentName, version }: AgentPlace): AroundAgent {
    const agent = { 'gen_ai.agent.name': agentName, 'gen_ai.agent.version': version };
    const tracer = this.#tracer;
    return {
      handler: (handler) =>
        mapHandler(handler, (operation, method) => (request, call) => {
          if (operation !== 'sendMessage' || !('message' in request)) return method(request, call);
          const attributes = {
            'a2a.method.name': 'SendMessage',
            ...agent,
            'a2a.protocol.version': call.version,
            'a2a.message.id': request.message.messageId,
          };
          const span = tracer.startSpan('SendMessage', { kind: SpanKind.SERVER, attributes });
          return this.#answered(span, () => method(request, call) as Promise<StreamResponse>);
        }),
      executor: (executor: AgentExecutor) => ({
        ...executor,
        execute: async (turn, events) => {
          const attributes = {
            ...agent,
            'gen_ai.operation.name': 'invoke_agent',
            'a2a.task.id': turn.taskId,
            'gen_ai.conversation.id': turn.contextId,
            'a2a.message.id': turn.message.messageId,
            'parley.turn.attempt': turn.attempt,
            ...(executor.replies !== 'either' && { 'parley.turn.queue_wait': 0 }),
          };
          const span = tracer.startSpan(`invoke_agent ${agentName}`, { kind: SpanKind.INTERNAL, attributes });
          await context.with(within(span), () => executor.execute(turn, events));
          // An agent that may answer by a direct message does so in the measured workloads.
          if (executor.replies !== 'either') span.setAttribute('a2a.task.state', 'TASK_STATE_COMPLETED');
          span.end();
        },
      }),
    };
  }

  async #answered(span: Span, call: () => Promise<StreamResponse>): Promise<StreamResponse> {
    const answer = await context.with(within(span), call);
    const { task, message } = answer;
    if (task !== undefined) {
      const { id, status, contextId = '' } = task;
      span.setAttributes({ 'a2a.task.id': id, 'a2a.task.state': status.state, 'gen_ai.conversation.id': contextId });
    } else if (message?.contextId !== undefined) span.setAttribute('gen_ai.conversation.id', message.contextId);
    span.end();
    return answer;
  }
}

function within(span: Span): Context {
  return trace.setSpan(context.active(), span);
}
