import type { ServerParts } from './part.js';
import { type Imports, mergeImports } from './source-text.js';

/** The code that the servers of all hosts share: settings, authentication, storage. */
interface SharedCode {
  readonly imports: Imports;
  /** The lines for settings and log. */
  readonly settings: string;
  /** The lines that define the options. */
  readonly made: string;
  /** The options of the agent. */
  readonly options: string;
  /** The lines that close everything, below `indent`. */
  readonly closeCode: (indent: string) => string;
}

/** Returns the shared code. */
export function sharedCode({ auth, storage }: ServerParts): SharedCode {
  const { imports = {}, lines = [], options = [] } = auth.server;
  const { opening } = storage;
  const made = [...lines, ...(opening === undefined ? [] : [`const storage = await ${opening};`])];
  return {
    imports: mergeImports(
      { 'parley-a2a': ['readServerConfig', 'textLogger'], './agent.ts': ['agent'] },
      imports,
      storage.imports ?? {},
    ),
    settings: `const config = readServerConfig(process.env);
const logger = textLogger({ level: config.logLevel });
for (const warning of config.warnings) logger.warn(warning);
`,
    made: made.map((line) => `${line}\n`).join(''),
    options: [...options, ...(opening === undefined ? [] : ['storage']), 'logger'].join(', '),
    closeCode: (indent) => (opening === undefined ? '' : `${indent}await storage.close();\n`),
  };
}

/** Code that ends the process after a signal, once `closing` has run. */
export function stopOnSignal(closing: string): string {
  return `
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
${closing}    process.exit();
  });
}
`;
}

/** The code of a handler that an application serves at `/agent`. `start`: all lines up to the handler. */
export function mountedCode(
  parts: ServerParts,
): Pick<SharedCode, 'imports' | 'closeCode'> & { readonly start: string } {
  const { imports, settings, made, options, closeCode } = sharedCode(parts);
  return {
    imports: mergeImports(imports, { 'parley-a2a/server': ['createAgentHandler'] }),
    start: `${settings}${made}const url = \`\${config.publicUrl ?? \`http://localhost:\${config.port}\`}/agent\`;
const handler = createAgentHandler({ ...agent, ${options}, url });
`,
    closeCode,
  };
}
