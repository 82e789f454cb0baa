import type { HostPart, ServerParts } from '../part.js';
import { sharedCode } from '../server-code.js';
import { mergeImports, sourceText } from '../source-text.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const ROUTE = `export {
${METHODS.map((method) => `  answer as ${method},\n`).join('')}} from '../../../handler.ts';
`;

const HEALTH = `export function GET(): Response {
  return new Response('ok');
}
`;

/** Packages that are not bundled, because they open files and databases. */
const CONFIG = `import type { NextConfig } from 'next';

const config: NextConfig = {
  serverExternalPackages: ['parley-a2a', 'parley-a2a-postgres', 'parley-a2a-redis'],
};

export default config;
`;

function handler(parts: ServerParts): string {
  const { imports, settings, options } = sharedCode(parts);
  const { opening } = parts.storage;
  const inside = [...(parts.auth.server.lines ?? [])];
  if (opening !== undefined) inside.push(`kept.storage ??= await ${opening};`, 'const { storage } = kept;');
  const members = [...(opening === undefined ? [] : ['storage?: TaskStorage']), 'handler?: Promise<AgentHandler>'];
  return sourceText(
    mergeImports(imports, {
      'parley-a2a/server': ['type AgentHandler', 'createAgentHandler'],
      ...(opening !== undefined && { 'parley-a2a/storage': ['type TaskStorage'] }),
    }),
    `${settings}
/** \`next dev\` loads this module again after a change. The new agent then replaces the former one. */
const kept = globalThis as { ${members.join('; ')} };
let opened: Promise<AgentHandler> | undefined;

/** Answers a request to the agent. The first one opens it: a build loads this module too. */
export async function answer(request: Request): Promise<Response> {
  opened ??= kept.handler = open(kept.handler);
  return (await opened).fetch(request);
}

async function open(former?: Promise<AgentHandler>): Promise<AgentHandler> {
  try {
    const replaced = await former?.catch(() => undefined);
    await replaced?.close();
${inside.map((line) => `    ${line}\n`).join('')}    const url = config.publicUrl ?? \`http://localhost:\${process.env.PORT ?? 3000}\`;
    return createAgentHandler({ ...agent, ${options}, url, path: '/agent' });
  } catch (error) {
    // The next request tries again.
    opened = undefined;
    throw error;
  }
}
`,
  );
}

/** A server of Next.js. */
export const next: HostPart = {
  summary: 'A server of Next.js serves it at `/agent`.',
  port: 3000,
  path: '/agent',
  probe: '/healthz',
  // Next.js listens on all addresses by default.
  scripts: {
    dev: 'next dev --hostname 127.0.0.1',
    build: 'next build',
    start: 'next start --hostname 127.0.0.1',
  },
  imageFiles: ['.next', 'next.config.ts'],
  imageVariables: ['PORT=3000', 'HOSTNAME=0.0.0.0'],
  command: ['node', 'node_modules/next/dist/bin/next', 'start'],
  dependencies: { next: '^16.0.0', react: '^19.0.0', 'react-dom': '^19.0.0' },
  devDependencies: { '@types/react': '^19.0.0' },
  tsconfig: {
    compilerOptions: {
      target: 'es2023',
      lib: ['dom', 'dom.iterable', 'es2023'],
      module: 'esnext',
      moduleResolution: 'bundler',
      types: ['node'],
      jsx: 'react-jsx',
      strict: true,
      noEmit: true,
      allowJs: true,
      incremental: true,
      allowImportingTsExtensions: true,
      esModuleInterop: true,
      isolatedModules: true,
      resolveJsonModule: true,
      skipLibCheck: true,
      plugins: [{ name: 'next' }],
    },
    include: ['next-env.d.ts', '**/*.ts', '.next/types/**/*.ts', '.next/dev/types/**/*.ts'],
    exclude: ['node_modules'],
  },
  files: (parts) => ({
    'app/agent/[[...path]]/route.ts': ROUTE,
    'app/healthz/route.ts': HEALTH,
    'handler.ts': handler(parts),
    'next.config.ts': CONFIG,
  }),
};
