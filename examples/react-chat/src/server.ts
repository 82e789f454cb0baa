import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { a2aChatHandler, type CalledAgent } from 'parley-a2a-ai-sdk';

/** The compiled page, or its source in tests. */
const PAGE = new URL(import.meta.url.endsWith('.ts') ? 'page.tsx' : 'page.js', import.meta.url);

/** Serves the page. It calls the agent at `url` itself, or through the endpoint of this server. */
export async function chatServer(agent: CalledAgent, { url }: { readonly url?: string } = {}): Promise<Server> {
  const bundle = await build({
    entryPoints: [fileURLToPath(PAGE)],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    jsx: 'automatic',
    minify: true,
    write: false,
    // Packages that only options of the client load, which the page does not use.
    external: ['jose'],
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  const script = bundle.outputFiles[0]?.contents ?? new Uint8Array();
  const target = url === undefined ? '' : ` data-agent="${encodeURI(url)}"`;
  const html = `<!doctype html><title>Chat</title><div id="root"${target}></div><script type="module" src="/page.js"></script>`;
  const handler = a2aChatHandler(agent);

  return createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/') response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
    else if (pathname === '/page.js') response.setHeader('content-type', 'text/javascript').end(script);
    else if (!pathname.startsWith('/api/chat')) response.writeHead(404).end();
    else {
      const { status, headers, body } = await handler(webRequest(request));
      response.writeHead(status, Object.fromEntries(headers));
      // A browser that leaves ends the pipeline with an error.
      if (body) await pipeline(Readable.from(body as unknown as AsyncIterable<Uint8Array>), response).catch(() => {});
      else response.end();
    }
  });
}

/** A request of Node.js or Express as one of the web. */
function webRequest(request: IncomingMessage): Request {
  const { method = 'GET', url = '/', headers } = request;
  const hasBody = method === 'POST';
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers: headers as Record<string, string>,
    ...(hasBody && { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' }),
  } as RequestInit);
}
