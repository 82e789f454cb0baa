import type { HostPart, ServerParts } from '../part.js';
import { mountedCode, stopOnSignal } from '../server-code.js';
import { mergeImports, sourceText } from '../source-text.js';
import { NODE_SERVER } from './node-server.js';

function server(parts: ServerParts): string {
  const { imports, start, closeCode } = mountedCode(parts);
  return sourceText(
    mergeImports(imports, {
      '@hono/node-server': ['serve'],
      hono: ['Hono'],
      'parley-a2a/hono': ['toHono'],
    }),
    `${start}
const app = new Hono();
app.get('/healthz', (context) => context.text('ok'));
app.use('/agent/*', toHono(handler));
serve({ fetch: app.fetch, port: config.port, hostname: config.host }, () => {
  console.log(\`The agent listens on \${url}\`);
});
${stopOnSignal(`    await handler.close();\n${closeCode('    ')}`)}`,
  );
}

/** An application of Hono on Node.js. */
export const hono: HostPart = {
  ...NODE_SERVER,
  summary: 'An application of Hono serves it at `/agent`.',
  path: '/agent',
  dependencies: { '@hono/node-server': '^2.0.0', hono: '^4.0.0' },
  files: (parts) => ({ 'server.ts': server(parts) }),
};
