// The parts of the runtime that these tests use. Its packages are installed by `run.mjs`, after the types are checked.

declare module 'miniflare' {
  export interface MiniflareOptions {
    readonly modules: true;
    readonly script: string;
    readonly compatibilityDate: string;
    readonly compatibilityFlags: readonly string[];
    readonly bindings: Readonly<Record<string, string>>;
    readonly durableObjects: Readonly<Record<string, { readonly className: string; readonly useSQLite: true }>>;
    readonly durableObjectsPersist?: string;
  }

  export class Miniflare {
    constructor(options: MiniflareOptions);
    readonly ready: Promise<URL>;
    dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>;
    dispose(): Promise<void>;
  }
}

declare module 'cloudflare:workers' {
  export interface DurableObjectState {
    readonly storage: {
      readonly sql: { exec(query: string, ...bindings: (string | number | null)[]): { toArray(): unknown[] } };
      transactionSync<R>(work: () => R): R;
      getAlarm(): Promise<number | null>;
      setAlarm(time: number): Promise<void>;
      deleteAll(): Promise<void>;
    };
    abort(reason: string): never;
  }

  export class DurableObject<Environment = unknown> {
    protected readonly ctx: DurableObjectState;
    protected readonly env: Environment;
  }
}
