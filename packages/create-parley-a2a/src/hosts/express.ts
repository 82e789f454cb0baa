import type { HostPart, ServerParts } from '../part.js';
import { mountedCode, stopOnSignal } from '../server-code.js';
import { mergeImports, sourceText } from '../source-text.js';
import { NODE_SERVER } from './node-server.js';

function server(parts: ServerParts): string {
  const { imports, start, closeCode } = mountedCode(parts);
  return sourceText(
    mergeImports(imports, {
      express: ['default express'],
      'parley-a2a/express': ['toExpress'],
    }),
    `${start}
const app = express();
app.get('/healthz', (_request, response) => void response.send('ok'));
app.use('/agent', toExpress(handler));
app.listen(config.port, config.host, (error) => {
  if (error !== undefined) throw error;
  console.log(\`The agent listens on \${url}\`);
});
${stopOnSignal(`    await handler.close();\n${closeCode('    ')}`)}`,
  );
}

/** An application of Express. */
export const express: HostPart = {
  ...NODE_SERVER,
  summary: 'An application of Express serves it at `/agent`.',
  path: '/agent',
  dependencies: { express: '^5.0.0' },
  devDependencies: { '@types/express': '^5.0.0' },
  files: (parts) => ({ 'server.ts': server(parts) }),
};
