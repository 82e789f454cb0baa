import { AGENTS } from './agents.js';
import { containerFiles } from './container-files.js';
import { agentsGuide, ciWorkflow, environmentFile, readme } from './documents.js';
import { HOSTS } from './hosts.js';
import type { AuthPart, ProjectParts } from './part.js';
import type { Answers, Choice } from './questions.js';
import { mergeImports, sourceText } from './source-text.js';
import { STORAGES } from './storages.js';

/** Every authentication of callers. */
const AUTHENTICATIONS: Readonly<Record<Choice<'auth'>, AuthPart>> = {
  none: {
    summary: 'Every program on this machine may call it.',
    server: {},
  },
  key: {
    summary: 'Callers need an API key of `A2A_API_KEYS`.',
    server: {
      imports: { 'parley-a2a/node': ['credentialAuthenticator'] },
      lines: [
        'const authenticator = await credentialAuthenticator(config.credentials);',
        "if (authenticator === undefined) throw new Error('No caller has a key. Set A2A_API_KEYS, such as ada=<key>.');",
      ],
      options: ['authenticator'],
    },
    client: {
      imports: { 'parley-a2a/credentials': ['apiKey'] },
      credentials: "apiKey(process.env.AGENT_KEY ?? '')",
    },
    variables: [
      { name: 'A2A_API_KEYS', meaning: 'names of callers with their keys, separated by commas', value: 'me=<key>' },
      { name: 'AGENT_KEY', meaning: 'the key that ask.ts sends', value: '<key>' },
      { name: 'A2ACLI_API_KEY', meaning: 'the key that the command line sends', value: '<key>' },
    ],
    composeVariables: ['A2A_API_KEYS'],
  },
  jwt: {
    summary: 'Callers need a token of the OpenID Connect provider `A2A_OIDC_ISSUER`.',
    server: {
      imports: { 'parley-a2a/auth': ['tokenAuthenticator'] },
      lines: [
        "if (config.tokens === undefined) throw new Error('Set A2A_OIDC_ISSUER and A2A_JWT_AUDIENCE.');",
        'const authenticator = tokenAuthenticator(config.tokens, { logger });',
      ],
      options: ['authenticator'],
    },
    client: {
      imports: { 'parley-a2a/credentials': ['bearerToken'] },
      credentials: "bearerToken(process.env.AGENT_TOKEN ?? '')",
    },
    variables: [
      {
        name: 'A2A_OIDC_ISSUER',
        meaning: 'OpenID Connect provider of the callers',
        value: 'https://id.example.com/realms/agents',
      },
      { name: 'A2A_JWT_AUDIENCE', meaning: 'audience of their tokens: this agent', value: 'my-agent' },
      { name: 'AGENT_TOKEN', meaning: 'the token that ask.ts sends' },
      { name: 'A2ACLI_BEARER', meaning: 'the token that the command line sends' },
    ],
    composeVariables: ['A2A_OIDC_ISSUER', 'A2A_JWT_AUDIENCE'],
  },
};

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

/** The source of `ask.ts`: a client that asks the agent once. */
function clientSource({ agent, host, auth }: ProjectParts): string {
  const address = `process.env.AGENT_URL ?? 'http://localhost:${host.port}${host.path}'`;
  const { imports = {}, credentials } = auth.client ?? {};
  const options = credentials === undefined ? '' : `, {\n  credentials: ${credentials},\n}`;
  return sourceText(
    mergeImports({ 'parley-a2a/client': ['connect'] }, imports),
    `const question = process.argv[2] ?? '${agent.message}';
const client = await connect(${address}${options});
const { task, text } = await client.ask(question);
console.log(text || task?.status.state);
client.close();
`,
  );
}
