import { NODE_RANGE } from '../version.js';
import type { PackageSources } from './package-sources.js';
import type { ProjectTemplate } from './project-template.js';

/** A new project. */
export interface NewProject {
  readonly name: string;
  readonly template: ProjectTemplate;
  readonly sources: PackageSources;
}

/** The files of a new project, by name. */
export function projectFiles(project: NewProject): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(manifest(project), undefined, 2)}\n`,
    ...project.template.files,
    'tsconfig.json': `${JSON.stringify(TSCONFIG, undefined, 2)}\n`,
    'README.md': readme(project),
    '.gitignore': 'node_modules/\ndata/\n.env\n',
  };
}

function manifest({ name, template, sources }: NewProject): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: NODE_RANGE },
    scripts: { ...template.scripts, test: 'node --test agent.test.ts', check: 'tsc' },
    dependencies: { ...sources.dependencies, ...template.dependencies },
    devDependencies: { '@types/node': '^22.0.0', typescript: '^6.0.0', ...template.devDependencies },
  };
}

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

function readme({ name, template }: NewProject): string {
  return `# ${name}

${template.summary} The agent speaks Agent2Agent (A2A). It needs Node.js ${NODE_RANGE.replace('>=', '')} or newer.

\`\`\`sh
npm install
npm start        # serves the agent on http://localhost:8080, its tasks in ./data
npm run send -- "${template.message}"    # from another terminal
npm test         # runs agent.test.ts, without a network
npm run check    # checks the types
\`\`\`

\`npm run dev\` serves it again after every change.
`;
}
