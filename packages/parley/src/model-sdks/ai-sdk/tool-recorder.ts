import type { EventQueue } from '../../server/event-queue.js';
import type { RequestContext } from '../../server/request-context.js';
import type { ToolFailureReason } from '../../tools/tool.js';
import {
  type CallChange,
  recordedCalls,
  recordPart,
  TOOLS_ARTIFACT,
  TOOLS_EXTENSION,
} from '../../tools/tool-records.js';
import { shownValue } from './model-output.js';

/** The call that a part of the stream of a model is about. */
interface StreamedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly toolMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The turn whose task records the calls. */
interface RecordingTurn {
  readonly context: RequestContext;
  readonly events: EventQueue;
}

/** Metadata of tools whose calls a run records. The AI SDK copies it to each call. */
export const RECORDED_BY_RUN = { [TOOLS_EXTENSION]: true };

/** Records the calls of tools that are not of Parley in the task. A run records its own calls. */
export class ToolRecorder {
  readonly #turn: RecordingTurn;
  readonly #isOn: boolean;
  readonly #open = new Set<string>();
  readonly #others = new Set<string>();
  #hasArtifact: boolean;
  readonly #number: number;

  constructor(turn: RecordingTurn, isOn: boolean) {
    this.#turn = turn;
    this.#isOn = isOn;
    const calls = [...recordedCalls(turn.context.task).values()];
    this.#hasArtifact = calls.length > 0;
    this.#number = Math.max(0, ...calls.map(({ run }) => run)) + 1;
  }

  /** True if a call has no result yet. */
  get hasOpenCalls(): boolean {
    return this.#open.size > 0;
  }

  async begin(call: StreamedCall & { readonly input: unknown }): Promise<void> {
    const { toolCallId, toolName, toolMetadata, input } = call;
    this.#open.add(toolCallId);
    if (toolMetadata?.[TOOLS_EXTENSION] === true) this.#others.add(toolCallId);
    const { message } = this.#turn.context;
    const first = { input: shownValue(input), run: this.#number, messageIds: [message.messageId] };
    await this.#record({ id: toolCallId, tool: toolName, state: 'running', ...first });
  }

  async end(
    { toolCallId, toolName }: StreamedCall,
    outcome: { readonly output: unknown } | { readonly reason: ToolFailureReason },
  ): Promise<void> {
    this.#open.delete(toolCallId);
    const call = { id: toolCallId, tool: toolName };
    if ('output' in outcome) await this.#record({ ...call, state: 'succeeded', output: shownValue(outcome.output) });
    else {
      const { reason } = outcome;
      const message = reason === 'refused' ? `The call of ${toolName} was refused.` : `${toolName} failed.`;
      await this.#record({ ...call, state: 'failed', failure: { reason, message } });
    }
  }

  async #record(change: CallChange): Promise<void> {
    const { events } = this.#turn;
    if (!this.#isOn || this.#others.has(change.id)) return;
    const part = recordPart(change);
    if (this.#hasArtifact) await events.append(TOOLS_ARTIFACT.artifactId, part);
    else await events.artifact(part, TOOLS_ARTIFACT);
    this.#hasArtifact = true;
  }
}
