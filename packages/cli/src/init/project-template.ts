/** A kind of new project. */
export interface ProjectTemplate {
  /** A sentence for the README. */
  readonly summary: string;
  /** A message that shows what the agent does, for the README. */
  readonly message: string;
  /** The sources, by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** Scripts that differ from those of other projects. `start` serves the agent, `send` calls it. */
  readonly scripts: Readonly<Record<'start' | 'dev' | 'send', string>>;
  /** Packages of this toolkit that not every project depends on. */
  readonly packages?: readonly string[];
  /** Packages beside those of this toolkit, with their versions. */
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The scripts of a project whose agent `parley serve` serves. */
export const SERVED_SCRIPTS: ProjectTemplate['scripts'] = {
  start: 'parley serve agent.ts --database sqlite:./data/tasks.db',
  dev: 'node --watch node_modules/parley-a2a-cli/bin/parley.js serve agent.ts',
  send: 'parley send --agent-card localhost:8080',
};
