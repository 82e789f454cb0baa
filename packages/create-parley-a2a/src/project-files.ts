import { AGENTS } from './agents.js';
import { AUTHENTICATIONS } from './authentications.js';
import { clientSource } from './client-source.js';
import { containerFiles } from './container-files.js';
import { agentsGuide, ciWorkflow, environmentFile, readme } from './documents.js';
import { HOSTS } from './hosts.js';
import type { ProjectParts } from './part.js';
import type { Answers } from './questions.js';
import { STORAGES } from './storages.js';

/** A new project. */
export interface NewProject extends Answers {
  /** The name of its package. */
  readonly name: string;
  /** The version of the packages that it depends on. */
  readonly version: string;
  /** The versions of Node.js that they need, as an npm range. */
  readonly nodeRange: string;
  /** A secret for the first caller, if callers have keys. */
  readonly key: string;
}

/** The files of a new project, by path. */
export function projectFiles(project: NewProject): Readonly<Record<string, string>> {
  const parts: ProjectParts = {
    agent: AGENTS[project.agent],
    host: HOSTS[project.host],
    storage: STORAGES[project.storage],
    auth: AUTHENTICATIONS[project.auth],
  };
  const { agent, host } = parts;
  return {
    'package.json': json(manifest(project, parts)),
    'tsconfig.json': json(host.tsconfig ?? TSCONFIG),
    ...agent.files,
    ...host.files(parts),
    'ask.ts': clientSource(parts),
    '.env.example': environmentFile(parts),
    '.env': environmentFile(parts, project.key),
    '.gitignore': [
      'node_modules/',
      'data/',
      '.env',
      ...(project.host === 'next' ? ['.next/', '*.tsbuildinfo'] : []),
      '',
    ].join('\n'),
    '.github/workflows/ci.yml': ciWorkflow(parts),
    ...(project.container && containerFiles(parts)),
    'AGENTS.md': agentsGuide(parts),
    'README.md': readme(project, parts),
  };
}

function manifest({ name, version, nodeRange }: NewProject, parts: ProjectParts): object {
  const all = Object.values(parts);
  const own = ['parley-a2a', ...all.flatMap(({ packages = [] }) => packages)].map(
    (one) => [one, `^${version}`] as const,
  );
  const { scripts } = parts.host;
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: nodeRange },
    scripts: {
      ...scripts,
      ask: 'node --env-file-if-exists=.env ask.ts',
      test: 'node --test',
      check: 'tsc --noEmit',
    },
    dependencies: sortByName(Object.fromEntries(own), ...all.map(({ dependencies = {} }) => dependencies)),
    devDependencies: sortByName(
      { '@types/node': '^22.0.0', 'parley-a2a-testing': `^${version}`, typescript: '^6.0.0' },
      ...all.map(({ devDependencies = {} }) => devDependencies),
    ),
  };
}

function sortByName(...all: readonly Readonly<Record<string, string>>[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(Object.assign({}, ...all)).sort(([one], [other]) => (one < other ? -1 : 1)),
  ) as Record<string, string>;
}

const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Node.js runs the sources as they are; the compiler only checks them. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
};
