import type { HostPart, ServerParts } from '../part.js';
import { mountedCode, stopOnSignal } from '../server-code.js';
import { mergeImports, sourceText } from '../source-text.js';
import { NODE_SERVER } from './node-server.js';

function server(parts: ServerParts): string {
  const { imports, start, closeCode } = mountedCode(parts);
  return sourceText(
    mergeImports(imports, {
      fastify: ['default Fastify'],
      'parley-a2a/fastify': ['toFastify'],
    }),
    `${start}
const app = Fastify();
app.get('/healthz', async () => 'ok');
app.register(toFastify(handler), { prefix: '/agent' });
app.addHook('preClose', () => handler.close());
await app.listen({ port: config.port, host: config.host });
console.log(\`The agent listens on \${url}\`);
${stopOnSignal(`    await app.close();\n${closeCode('    ')}`)}`,
  );
}

/** An application of Fastify. */
export const fastify: HostPart = {
  ...NODE_SERVER,
  summary: 'An application of Fastify serves it at `/agent`.',
  path: '/agent',
  dependencies: { fastify: '^5.0.0' },
  files: (parts) => ({ 'server.ts': server(parts) }),
};
