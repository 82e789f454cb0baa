/** Any JSON object. */
type FreeObject = { readonly [name: string]: unknown };

/** The states of a task in 0.3. */
export const OLD_TASK_STATES = [
  'submitted',
  'working',
  'input-required',
  'completed',
  'canceled',
  'failed',
  'rejected',
  'auth-required',
  'unknown',
] as const;
export type TaskState = (typeof OLD_TASK_STATES)[number];

/** A text. */
export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly metadata?: FreeObject;
}

/** A file with its bytes in base64. */
export interface FileWithBytes {
  readonly bytes: string;
  readonly mimeType?: string;
  readonly name?: string;
}

/** A file at a url. */
export interface FileWithUri {
  readonly uri: string;
  readonly mimeType?: string;
  readonly name?: string;
}

/** A file. */
export interface FilePart {
  readonly kind: 'file';
  readonly file: FileWithBytes | FileWithUri;
  readonly metadata?: FreeObject;
}

/** A JSON object. */
export interface DataPart {
  readonly kind: 'data';
  readonly data: FreeObject;
  readonly metadata?: FreeObject;
}

/** A part of a message or an artifact. */
export type Part = TextPart | FilePart | DataPart;

/** A message of a user or an agent. */
export interface Message {
  readonly kind: 'message';
  readonly messageId: string;
  readonly role: 'user' | 'agent';
  readonly parts: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly extensions?: readonly string[];
  readonly metadata?: FreeObject;
}

/** A result of a task. */
export interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly extensions?: readonly string[];
  readonly metadata?: FreeObject;
}

/** The state of a task, and the time of its last change. */
export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: Message;
  readonly timestamp?: string;
}

/** A task. */
export interface Task {
  readonly kind: 'task';
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: FreeObject;
}

/** An event of a stream: a new status. */
export interface TaskStatusUpdateEvent {
  readonly kind: 'status-update';
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  /** True if it is the last event of the stream. */
  readonly final: boolean;
  readonly metadata?: FreeObject;
}

/** An event of a stream: an artifact or a chunk of one. */
export interface TaskArtifactUpdateEvent {
  readonly kind: 'artifact-update';
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: Artifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: FreeObject;
}

/** Any event of a stream. */
export type StreamEvent = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

/** The credentials for a webhook, which the server sends with each notification. */
export interface AuthCredentials {
  readonly schemes: readonly string[];
  readonly credentials?: string;
}

/** The address of a webhook. */
export interface PushNotificationConfig {
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: AuthCredentials;
}

/** The webhook of a task. */
export interface TaskPushNotificationConfig {
  readonly taskId: string;
  readonly pushNotificationConfig: PushNotificationConfig;
}

/** The options of a message. */
export interface MessageSendConfiguration {
  readonly acceptedOutputModes?: readonly string[];
  readonly blocking?: boolean;
  readonly historyLength?: number;
  readonly pushNotificationConfig?: PushNotificationConfig;
}

/** The params of the methods that send a message. */
export interface MessageSendParams {
  readonly message: Message;
  readonly configuration?: MessageSendConfiguration;
  readonly metadata?: FreeObject;
}

/** The params of the methods that name a task. */
export interface TaskIdParams {
  readonly id: string;
  readonly metadata?: FreeObject;
}

/** The params of the method that reads a task. */
export interface TaskQueryParams extends TaskIdParams {
  readonly historyLength?: number;
}

/** The params of the methods that name a webhook. */
export interface PushNotificationConfigParams extends TaskIdParams {
  readonly pushNotificationConfigId?: string;
}

/** An extension of the protocol. */
export interface AgentExtension {
  readonly uri: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly params?: FreeObject;
}

/** The optional features of an agent. */
export interface AgentCapabilities {
  readonly streaming?: boolean;
  readonly pushNotifications?: boolean;
  readonly stateTransitionHistory?: boolean;
  /** The agent takes files beside the protocol. */
  readonly fileTransfer?: boolean;
  /** The agent calls functions of its client, over Cap'n Web. */
  readonly bidirectional?: boolean;
  /** Tasks can be listed and watched over Cap'n Web. */
  readonly taskManagement?: boolean;
  readonly extensions?: readonly AgentExtension[];
}

/** The address of a transport. */
export interface AgentInterface {
  readonly transport: string;
  readonly url: string;
}

/** A skill of an agent. */
export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  readonly security?: readonly { readonly [scheme: string]: readonly string[] }[];
}

/** The card of an agent. */
export interface AgentCard {
  readonly protocolVersion: string;
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly version: string;
  readonly preferredTransport?: string;
  readonly additionalInterfaces?: readonly AgentInterface[];
  readonly capabilities: AgentCapabilities;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly supportsAuthenticatedExtendedCard?: boolean;
  /** The security schemes by the types that `authenticate` of Cap'n Web takes. */
  readonly authentication?: readonly {
    readonly type: 'bearer' | 'apikey' | 'oauth2' | 'mtls' | 'custom';
    readonly description?: string;
    /** The name of the scheme. */
    readonly parameters?: { readonly scheme: string };
  }[];
  /** Security schemes in the form of OpenAPI 3. */
  readonly securitySchemes?: { readonly [name: string]: object };
  readonly security?: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly signatures?: readonly {
    readonly protected: string;
    readonly signature: string;
    readonly header?: FreeObject;
  }[];
}

/** A change of the status, for a callback of Cap'n Web. */
export interface StatusEvent {
  readonly type: 'status';
  readonly taskId: string;
  readonly contextId?: string;
  readonly status: TaskStatus;
  /** True for a terminal state. */
  readonly final?: true;
}

/** An artifact or a chunk of one, for a callback of Cap'n Web. */
export interface ArtifactEvent {
  readonly type: 'artifact';
  readonly taskId: string;
  readonly contextId?: string;
  readonly artifact: Artifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** The credentials for `authenticate` of Cap'n Web. */
export interface PlainCredential {
  readonly type: 'bearer' | 'apikey' | 'oauth2' | 'mtls' | 'custom';
  readonly token?: string;
  readonly apiKey?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Not read: the certificate of the connection counts. */
  readonly certificate?: string;
}
