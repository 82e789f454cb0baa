import { type CallOptions, type Client, A2AError as ClientError, type TaskStream } from 'parley-a2a/client';
import {
  A2AError,
  BaseRequestHandler,
  type RequestHandler,
  type ServerCallContext,
  type StreamItem,
} from 'parley-a2a/server';
import { failureOf } from '../failure/failure.js';

type Answer<Name extends keyof RequestHandler> = ReturnType<RequestHandler[Name]>;
type Request<Name extends keyof RequestHandler> = Parameters<RequestHandler[Name]>[0];

/** Answers the operations of the protocol by calling another agent. */
export class ForwardedAgent extends BaseRequestHandler {
  readonly #current: () => Promise<Client>;

  /** `current` returns the client for the call that is being answered. It is called before anything is awaited. */
  constructor(current: () => Promise<Client>) {
    super();
    this.#current = current;
  }

  override sendMessage(request: Request<'sendMessage'>, context: ServerCallContext): Answer<'sendMessage'> {
    return this.#call((client) => client.sendMessage(request, optionsOf(context)));
  }

  override sendStreamingMessage(
    request: Request<'sendStreamingMessage'>,
    context: ServerCallContext,
  ): Answer<'sendStreamingMessage'> {
    return itemsOf(this.#current(), (client) => client.sendStreamingMessage(request, optionsOf(context)));
  }

  override getTask(request: Request<'getTask'>, context: ServerCallContext): Answer<'getTask'> {
    return this.#call((client) => client.getTask(request, optionsOf(context)));
  }

  override listTasks(request: Request<'listTasks'>, context: ServerCallContext): Answer<'listTasks'> {
    return this.#call((client) => client.listTasks(request, optionsOf(context)));
  }

  override cancelTask(request: Request<'cancelTask'>, context: ServerCallContext): Answer<'cancelTask'> {
    return this.#call((client) => client.cancelTask(request, optionsOf(context)));
  }

  override subscribeToTask(request: Request<'subscribeToTask'>, context: ServerCallContext): Answer<'subscribeToTask'> {
    return itemsOf(this.#current(), (client) => client.subscribeToTask(request, optionsOf(context)));
  }

  override createTaskPushNotificationConfig(
    request: Request<'createTaskPushNotificationConfig'>,
    context: ServerCallContext,
  ): Answer<'createTaskPushNotificationConfig'> {
    return this.#call((client) => client.createTaskPushNotificationConfig(request, optionsOf(context)));
  }

  override getTaskPushNotificationConfig(
    request: Request<'getTaskPushNotificationConfig'>,
    context: ServerCallContext,
  ): Answer<'getTaskPushNotificationConfig'> {
    return this.#call((client) => client.getTaskPushNotificationConfig(request, optionsOf(context)));
  }

  override listTaskPushNotificationConfigs(
    request: Request<'listTaskPushNotificationConfigs'>,
    context: ServerCallContext,
  ): Answer<'listTaskPushNotificationConfigs'> {
    return this.#call((client) => client.listTaskPushNotificationConfigs(request, optionsOf(context)));
  }

  override deleteTaskPushNotificationConfig(
    request: Request<'deleteTaskPushNotificationConfig'>,
    context: ServerCallContext,
  ): Answer<'deleteTaskPushNotificationConfig'> {
    return this.#call((client) => client.deleteTaskPushNotificationConfig(request, optionsOf(context)));
  }

  async #call<T>(run: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await run(await this.#current());
    } catch (error) {
      throw forwarded(error);
    }
  }
}

function optionsOf({ signal, extensions }: ServerCallContext): CallOptions {
  return { signal, extensions };
}

async function* itemsOf(
  current: Promise<Client>,
  open: (client: Client) => TaskStream,
): AsyncGenerator<StreamItem, undefined> {
  try {
    for await (const event of open(await current)) yield { event };
  } catch (error) {
    throw forwarded(error);
  }
}

/** An error of the agent as it is. A failure to reach it is told with its reason. */
function forwarded(error: unknown): A2AError {
  // The bundle of the tool has a client of its own, whose errors the server does not know.
  if (error instanceof ClientError) return new A2AError(error.code, error.message, error.details, { cause: error });
  const { message, hint } = failureOf(error);
  const text = `The agent cannot be called: ${message}`;
  return new A2AError('UNAVAILABLE', hint === null ? text : `${text}; ${hint}`, {}, { cause: error });
}
