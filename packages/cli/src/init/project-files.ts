import { NODE_RANGE } from '../version.js';
import type { PackageSources } from './package-sources.js';

/** The files of a new project, by name. */
export function projectFiles(name: string, sources: PackageSources): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(manifest(name, sources), undefined, 2)}\n`,
    'agent.ts': AGENT,
    'tsconfig.json': `${JSON.stringify(TSCONFIG, undefined, 2)}\n`,
    'README.md': readme(name),
    '.gitignore': 'node_modules/\ndata/\n.env\n',
  };
}

function manifest(name: string, { dependencies }: PackageSources): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: NODE_RANGE },
    scripts: {
      start: 'parley serve agent.ts --database sqlite:./data/tasks.db',
      dev: 'node --watch node_modules/parley-a2a-cli/bin/parley.js serve agent.ts',
      send: 'parley send --agent-card localhost:8080',
    },
    dependencies,
  };
}

const AGENT = `import type { AgentOptions, RequestContext } from 'parley-a2a/server';

/** The agent that \`parley serve\` serves. Change its answers and its card here. */
export const agent: AgentOptions = {
  name: 'Shouter',
  description: 'Says it again, louder.',
  skills: [{ id: 'shout', name: 'Shout', description: 'Upper case.', tags: ['text'], examples: ['hello'] }],
  agent: async function* (prompt: string, context: RequestContext) {
    for (const word of prompt.split(' ')) {
      if (context.signal.aborted) return;
      yield \`\${word.toUpperCase()} \`;
    }
  },
};
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
};

function readme(name: string): string {
  return `# ${name}

An agent that speaks Agent2Agent (A2A). It needs Node.js ${NODE_RANGE.replace('>=', '')} or newer.

\`\`\`sh
npm install
npm start                  # serves agent.ts on http://localhost:8080, its tasks in ./data
npm run send -- "hello"    # from another terminal
\`\`\`

\`npm run dev\` serves it again after every change of \`agent.ts\`.
`;
}
