import type { Imports } from './source-text.js';

/** The additions of a choice to a project. */
export interface Part {
  /** A sentence for the README. */
  readonly summary: string;
  /** Packages of this toolkit that not every project depends on. */
  readonly packages?: readonly string[];
  /** Packages beside those of this toolkit, with their versions. */
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly variables?: readonly Variable[];
}

/** A variable of the environment, for `.env.example` and the README. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** A value for `.env.example`. Absent: the variable is a comment there. */
  readonly value?: string;
  /** The value in that comment. */
  readonly example?: string;
}

/** An agent, in `agent.ts`, with its test. */
export interface AgentPart extends Part {
  /** A message that shows what the agent does. */
  readonly message: string;
  /** The sources, by file name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Code of a server: the lines before the agent is served, and the agent options that they define. */
interface ServerCode {
  readonly imports?: Imports;
  readonly lines?: readonly string[];
  readonly options?: readonly string[];
}

/** A service of the compose file. */
export interface Service {
  readonly name: string;
  readonly lines: readonly string[];
}

/** A storage of tasks. */
export interface StoragePart extends Part {
  /** The expression that opens it. Absent: tasks are in memory. */
  readonly opening?: string;
  readonly imports?: Imports;
  /** The database beside the agent, and its address there. */
  readonly service?: Service & { readonly url: string };
  /** True if the agent writes into the folder `data`. */
  readonly writesData?: boolean;
}

/** An authentication of callers. */
export interface AuthPart extends Part {
  readonly server: ServerCode;
  /** The credentials of the client in `ask.ts`. */
  readonly client?: { readonly imports: Imports; readonly credentials: string };
  /** Variables that the compose file passes on. Absent: everyone who can reach the port may call. */
  readonly composeVariables?: readonly string[];
}

/** A host of the agent. */
export interface HostPart extends Part {
  /** The port of the host without settings. */
  readonly port: number;
  /** The path of the agent. */
  readonly path: string;
  /** The path of the probe. */
  readonly probe: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** The files of the image, beside `package.json` and `node_modules`. */
  readonly imageFiles: readonly string[];
  /** Variables of the image. */
  readonly imageVariables: readonly string[];
  readonly command: readonly string[];
  readonly tsconfig?: object;
  readonly files: (parts: ServerParts) => Readonly<Record<string, string>>;
}

/** The other parts that a host serves. */
export interface ServerParts {
  readonly storage: StoragePart;
  readonly auth: AuthPart;
}
/** The parts of a project. */
export interface ProjectParts extends ServerParts {
  readonly agent: AgentPart;
  readonly host: HostPart;
}
