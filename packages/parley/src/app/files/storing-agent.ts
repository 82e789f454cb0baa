import { isObject } from '../../model/json.js';
import type { Part } from '../../model/part.js';
import { bytesInBase64, fromBase64 } from '../../runtime/base64-bytes.js';
import type { AgentExecutor } from '../../server/agent-executor.js';
import type { EventQueue } from '../../server/event-queue.js';
import type { RequestContext } from '../../server/request-context.js';

/** The same agent, with files in the place of its raw parts that are larger than `inlineBytes`. */
export function storingAgent(agent: AgentExecutor, inlineBytes: number): AgentExecutor {
  const { replies, resumable } = agent;
  return {
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    async execute(context, events) {
      const queue = new StoringQueue({ context, events, inlineBytes });
      await agent.execute(context, queue);
      await queue.settled;
    },
    ...(agent.cancel && { cancel: (context, events) => agent.cancel?.(context, events) }),
  };
}

interface StoringQueueOptions {
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly inlineBytes: number;
}

/** Stores large parts, then passes their event on. Later events wait for it, so that the order stays. */
class StoringQueue implements EventQueue {
  readonly #options: StoringQueueOptions;
  #waiting: Promise<unknown> | undefined;

  constructor(options: StoringQueueOptions) {
    this.#options = options;
  }

  /** Resolves when all events are passed on. */
  get settled(): Promise<unknown> | undefined {
    return this.#waiting;
  }

  readonly working: EventQueue['working'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.working(stored, info));
  readonly inputRequired: EventQueue['inputRequired'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.inputRequired(stored, info));
  readonly authRequired: EventQueue['authRequired'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.authRequired(stored, info));
  readonly complete: EventQueue['complete'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.complete(stored, info));
  readonly fail: EventQueue['fail'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.fail(stored, info));
  readonly reject: EventQueue['reject'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.reject(stored, info));
  readonly cancel: EventQueue['cancel'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.cancel(stored, info));
  readonly artifact: EventQueue['artifact'] = (content, info) =>
    this.#pass(content, (stored) => this.#events.artifact(stored, info));
  readonly append: EventQueue['append'] = (artifactId, content, info) =>
    this.#pass(content, (stored) => this.#events.append(artifactId, stored, info));
  readonly message: EventQueue['message'] = (content) => this.#pass(content, (stored) => this.#events.message(stored));
  readonly publish: EventQueue['publish'] = (event) => this.#pass(event, (stored) => this.#events.publish(stored));
  readonly flush: EventQueue['flush'] = () => this.#pass(undefined, () => this.#events.flush());

  get #events(): EventQueue {
    return this.#options.events;
  }

  #pass<Content, Result>(content: Content, publish: (content: Content) => Promise<Result>): Promise<Result> {
    if (this.#waiting === undefined && !this.#hasLargePart(content)) return publish(content);
    const before = this.#waiting;
    const passing = (async () => {
      await before?.catch(() => {});
      return publish((await this.#stored(content)) as Content);
    })();
    const settled = passing.then(
      () => {},
      () => {},
    );
    this.#waiting = settled;
    void settled.then(() => {
      if (this.#waiting === settled) this.#waiting = undefined;
    });
    // The agent may look at the outcome, and need not.
    passing.catch(() => {});
    return passing;
  }

  /** True if some part within the content becomes a file. Looks as deep as events are. */
  #hasLargePart(content: unknown, depth = 8): boolean {
    if (depth === 0 || typeof content !== 'object' || content === null) return false;
    if (this.#isLarge(content)) return true;
    return Object.values(content).some((member) => this.#hasLargePart(member, depth - 1));
  }

  async #stored(content: unknown, depth = 8): Promise<unknown> {
    if (!this.#hasLargePart(content, depth)) return content;
    if (this.#isLarge(content)) return this.#fileOf(content);
    if (Array.isArray(content)) {
      const items: unknown[] = [];
      for (const item of content) items.push(await this.#stored(item, depth - 1));
      return items;
    }
    const copy: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(content as object)) copy[name] = await this.#stored(member, depth - 1);
    return copy;
  }

  #isLarge(value: unknown): value is Extract<Part, { readonly raw: string }> {
    return isObject(value) && typeof value.raw === 'string' && bytesInBase64(value.raw) > this.#options.inlineBytes;
  }

  async #fileOf(part: Extract<Part, { readonly raw: string }>): Promise<Part> {
    const { raw, filename, mediaType, metadata } = part;
    const about = { ...(filename !== undefined && { filename }), ...(mediaType !== undefined && { mediaType }) };
    const file = await this.#options.context.files.write(fromBase64(raw), about);
    return metadata === undefined ? file : { ...file, metadata };
  }
}
