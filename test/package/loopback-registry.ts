import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A package as npm publishes it. */
export interface PublishedPackage {
  readonly name: string;
  readonly manifest: { readonly version?: unknown; readonly [name: string]: unknown };
  readonly tarball: string;
}

/**
 * A registry on loopback with one package. It redirects requests for all others to the configured registry. npm reads
 * a tarball that is given by its path twice, so that only a registry shows what users wait for.
 */
export async function loopbackRegistry({ name, manifest, tarball }: PublishedPackage, configured: string) {
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const version = String(manifest.version);
  const server = createServer(({ url = '/' }, response) => {
    const dist = { tarball: `${origin()}/${name}/-/${name}.tgz`, integrity };
    const released = { ...manifest, dist };
    if (url === `/${name}`) {
      const document = { name, 'dist-tags': { latest: version }, versions: { [version]: released } };
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=300' });
      response.end(JSON.stringify(document));
    } else if (url.endsWith(`/${name}.tgz`)) {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'cache-control': 'max-age=300' });
      response.end(bytes);
    } else response.writeHead(307, { location: new URL(url.slice(1), configured).href }).end();
  });
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${origin()}/`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
