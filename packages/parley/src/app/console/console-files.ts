import type { PushRequest } from '../../push/receiver/push-receiver.js';

/** A file of the console. */
export interface ConsoleFile {
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

/** The files of the console, by name, and the names of those that its page refers to. */
export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  /** Further scripts of the first view. */
  readonly preloads: readonly string[];
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** An answer of the package to the page or to an agent. */
export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A webhook. */
interface WebhookReceiver {
  answer(request: PushRequest): Promise<ConsoleAnswer>;
}

/** Makes a webhook that checks the token, and the signature of notifications by keys at a url. */
export type MakeReceiver = (options: {
  readonly token: string;
  readonly bytes: number;
  readonly onNotification: () => void;
  readonly signature?: { readonly issuer: string; readonly audience: string; readonly jwksUrl: string };
}) => Promise<WebhookReceiver>;

/** The push inboxes of pages. */
export interface PushInboxes {
  /** Answers a page of the console at a url. */
  ask(request: string, place: string): Promise<ConsoleAnswer>;
  /** Answers an agent that calls the inbox of a name. */
  take(name: string, request: PushRequest): Promise<ConsoleAnswer>;
  close(): void;
}

/** The package of the console. */
export interface ConsolePackage {
  consoleFiles(): Promise<ConsoleFiles>;
  /** Makes the function that sends the page's requests to the authorization servers of cards. */
  oauthRelay(options: {
    readonly cards: () => readonly { readonly securitySchemes?: object | undefined }[];
    readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  }): (request: string) => Promise<ConsoleAnswer>;
  readonly PushInboxes: new (options: {
    readonly receiver: MakeReceiver;
    readonly keysUrl: (agent: string, place: string) => string;
  }) => PushInboxes;
}
