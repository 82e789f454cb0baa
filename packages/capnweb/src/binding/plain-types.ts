import type { BY_VERB } from 'parley-a2a/kit';
import type {
  ArtifactEvent,
  Message,
  MessageSendConfiguration,
  PlainCredential,
  StatusEvent,
  Task,
  TaskState,
} from 'parley-a2a/v0_3';

/** The tasks to list, and the part of them. */
export interface TaskListFilter {
  readonly contextId?: string;
  /** Default 50, at most 1,000. */
  readonly limit?: number;
  /** Default 0. */
  readonly offset?: number;
  readonly filter?: {
    readonly states?: readonly TaskState[];
    readonly createdAfter?: string | number | Date;
    readonly createdBefore?: string | number | Date;
  };
}

/** A part of the tasks that a filter matches. */
export interface ListedTasks {
  readonly tasks: readonly Task[];
  /** The number of all tasks that the filter matches. */
  readonly total: number;
  readonly hasMore: boolean;
}

/** A function of a client for the events of a task, or an object with a function for each type. */
export type TaskCallback =
  | ((event: StatusEvent | ArtifactEvent) => unknown)
  | {
      /** Names the callback for `unsubscribeCallback`. */
      readonly id?: string;
      onStatusUpdate?(event: StatusEvent): unknown;
      onArtifactUpdate?(event: ArtifactEvent): unknown;
    };

/** The methods by their verbs. */
interface PlainMethods {
  readonly send: (message: Message, config?: MessageSendConfiguration) => Promise<Task | Message>;
  readonly get: (taskId: string, historyLength?: number) => Promise<Task>;
  readonly list: (filter?: TaskListFilter) => Promise<ListedTasks>;
  readonly cancel: (taskId: string) => Promise<Task>;
}

type PlainOperations = {
  readonly [Verb in keyof PlainMethods as (typeof BY_VERB)[Verb]]: PlainMethods[Verb];
};

type TaskReader = {
  readonly [Name in (typeof BY_VERB)['get']]: (historyLength?: number) => Promise<Task>;
};

/** The task of a stream. It ends an hour after its last use. */
export interface StreamingTask extends TaskReader {
  /** Gives the current state to a callback, and then every event until the task ends. */
  subscribe(callback: TaskCallback): Promise<CallbackSubscription>;
  unsubscribeCallback(callback: TaskCallback | CallbackSubscription): Promise<void>;
  isFinalState(): Promise<boolean>;
  dispose(): void;
}

/** The place of a callback in a task. */
export interface CallbackSubscription {
  readonly subscriptionId: number;
  close(): void;
}

/** The operations with plain arguments for one user. The id of the user stands in the metadata of sent messages. */
export interface AuthenticatedA2AService extends PlainOperations {
  sendMessageStreaming(
    message: Message,
    config?: MessageSendConfiguration,
    callback?: TaskCallback,
  ): Promise<StreamingTask | Message>;
  /** The card with the members of 1.0 and of 0.3. */
  getAgentCard(): Promise<object>;
}

/** The entrance of a connection for clients that use plain arguments and the shapes of 0.3. */
export interface A2AService extends AuthenticatedA2AService {
  authenticate(credential: PlainCredential): Promise<AuthenticatedA2AService>;
}
