import type { ProjectParts, Variable } from './part.js';
import type { NewProject } from './project-files.js';

/** The variables of all parts, and those of every server. */
function variablesOf({ agent, host, storage, auth }: ProjectParts): readonly Variable[] {
  return [
    ...[agent, storage, auth].flatMap(({ variables = [] }) => variables),
    { name: 'PORT', meaning: 'port of the server', example: String(host.port) },
    { name: 'LOG_LEVEL', meaning: 'debug, info, warn, error or silent', example: 'info' },
    {
      name: 'A2A_PUBLIC_URL',
      meaning: 'base URL in the card, if a proxy stands before the server',
      example: 'https://agents.example.com',
    },
    { name: 'AGENT_URL', meaning: 'the agent that ask.ts asks', example: `http://localhost:${host.port}${host.path}` },
    {
      name: 'A2ACLI_AGENT_CARD',
      meaning: 'the agent that the command line calls',
      value: `http://localhost:${host.port}${host.path}`,
    },
  ];
}

/** The text of `.env.example`. With a key, that of `.env`. */
export function environmentFile(parts: ProjectParts, key = '<key>'): string {
  return variablesOf(parts)
    .map(({ name, meaning, value, example = '' }) => {
      const line = value === undefined ? `# ${name}=${example}` : `${name}=${value.replace('<key>', key)}`;
      return `# ${meaning[0]?.toUpperCase()}${meaning.slice(1)}.\n${line}\n`;
    })
    .join('\n');
}

/** A workflow for GitHub that checks and tests each change. */
export function ciWorkflow({ host }: ProjectParts): string {
  const steps = ['npm ci', 'npm run check', 'npm test', ...(host.scripts.build === undefined ? [] : ['npm run build'])];
  return `name: CI
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
          cache: npm
${steps.map((step) => `      - run: ${step}\n`).join('')}`;
}

/** The rows for the sources of a project. */
function sourceRows({ agent, host }: ProjectParts): readonly (readonly [string, string])[] {
  return [
    ['agent.ts', 'the agent and its card'],
    ...('model.ts' in agent.files ? [['model.ts', 'the model; a practice model without a key'] as const] : []),
    ...('api.ts' in agent.files ? [['api.ts', 'the calls of the API'] as const] : []),
    ['agent.test.ts', 'its test'],
    host.scripts.build === undefined
      ? ['server.ts', 'the server: settings, callers, storage']
      : ['handler.ts', 'the handler of the route: settings, callers, storage'],
    ['ask.ts', 'a client that asks once'],
  ];
}

function commandRows({ agent, host }: ProjectParts): readonly (readonly [string, string])[] {
  const { build } = host.scripts;
  return [
    ['npm run dev', 'serves the agent, and again after every change'],
    [`npm run ask -- "${agent.message}"`, 'asks it, from another terminal'],
    ['npm test', 'tests it, without a network'],
    ['npm run check', 'checks the types'],
    ...(build === undefined ? [] : [['npm run build', 'builds it for `npm start`'] as const]),
    ['npm start', 'serves the agent in production'],
  ];
}

const table = (head: string, rows: readonly (readonly [string, string])[]) =>
  `| ${head} | |\n| --- | --- |\n${rows.map(([name, meaning]) => `| \`${name}\` | ${meaning} |\n`).join('')}`;

/** The README of a project. */
export function readme(project: NewProject, parts: ProjectParts): string {
  const { name, nodeRange, container } = project;
  const { agent, host, storage, auth } = parts;
  const environment = project.auth === 'jwt' ? 'editor .env    # name your provider\n' : '';
  const docker = container
    ? `
## In a container

\`npm install\` has written \`package-lock.json\`: commit it, the image is built from it.

\`\`\`sh
docker compose up --build
\`\`\`
`
    : '';
  return `# ${name}

${agent.summary} ${host.summary} ${auth.summary} ${storage.summary}

It speaks [Agent2Agent](https://a2a-protocol.org) (A2A), and needs Node.js ${nodeRange.replace('>=', '')} or newer.

\`\`\`sh
npm install
${environment}npm run dev
npm run ask -- "${agent.message}"    # from another terminal
\`\`\`

The agent is at http://localhost:${host.port}${host.path}. For conversations, questions and approvals, use
\`npx parley-a2a-cli chat\` in this folder.

${table('command', commandRows(parts))}
${table('file', sourceRows(parts))}
## Settings

The server reads them from the environment, and from \`.env\` on your machine.

${table(
  'variable',
  variablesOf(parts).map(({ name, meaning }) => [name, meaning]),
)}${docker}
`
    .trimEnd()
    .concat('\n');
}

/** The guide for coding agents that work on a project. */
export function agentsGuide(parts: ProjectParts): string {
  const { host } = parts;
  return `# For coding agents

An A2A agent in TypeScript on \`parley-a2a\`. ${host.scripts.build === undefined ? 'Node.js runs the `.ts` files as they are: use\nonly types that can be erased, and write imports of files with their ending `.ts`.' : 'Next.js builds it. Write imports of\nfiles with their ending `.ts`: the test runs them without a build.'}

${table('file', sourceRows(parts))}
After every change run \`npm run check\` and \`npm test\`. Both need no network and no key.

- The behaviour and the card belong into \`agent.ts\`. Give every new skill an example and a test.
- Tests use \`runAgent\` and \`testAgent\` of \`parley-a2a-testing\`, never a port.
- Pass \`context.signal\` on to everything that takes long, so that a cancel ends it.
- Callers never see the text of an error. Throw it: the log has it.
- Settings come from the environment. Add new ones to \`.env.example\`; secrets are never committed.

The documentation of the installed version is in \`node_modules/parley-a2a/docs\`: \`agents.md\` first,
then \`testing.md\`, \`errors.md\` and \`production.md\`.
`;
}
