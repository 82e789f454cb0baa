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

/** A request for a token, as JSON, and its answer. */
export type OAuthRelay = (
  request: string,
) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }>;

/** The package of the console. */
export interface ConsolePackage {
  consoleFiles(): Promise<ConsoleFiles>;
  /** Makes the function that sends the page's requests to the authorization servers of cards. */
  oauthRelay(options: {
    readonly cards: () => readonly { readonly securitySchemes?: object | undefined }[];
    readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  }): OAuthRelay;
}
