import type { HostPart, ServerParts } from '../part.js';
import { sharedCode, stopOnSignal } from '../server-code.js';
import { mergeImports, sourceText } from '../source-text.js';
import { NODE_SERVER } from './node-server.js';

function server(parts: ServerParts): string {
  const { imports, settings, made, options, closeCode } = sharedCode(parts);
  const isOpen = parts.auth.server.options === undefined;
  const rows = [
    ...['...agent', ...options.split(', ')],
    ...(isOpen ? ['allowAnonymous: config.allowAnonymous'] : []),
    'trustProxy: config.trustProxy',
    '...(config.publicUrl !== undefined && { url: config.publicUrl })',
  ];
  return sourceText(
    mergeImports(imports, { 'parley-a2a': ['createA2AServer'] }),
    `${settings}${made}
const server = createA2AServer({
${rows.map((row) => `  ${row},\n`).join('')}});
const { url } = await server.listen(config.port, config.host);
console.log(\`\${server.agentCard.name} listens on \${url}\`);
${stopOnSignal(`    await server.close({ drainMs: config.drainMs });\n${closeCode('    ')}`)}`,
  );
}

/** The server of the toolkit. */
export const own: HostPart = {
  ...NODE_SERVER,
  summary: 'The server of Parley serves it.',
  path: '',
  files: (parts) => ({ 'server.ts': server(parts) }),
};
