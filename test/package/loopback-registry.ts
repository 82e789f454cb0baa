import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A registry on loopback with these packed packages. It redirects requests for all others to the configured registry.
 * npm reads a tarball that is given by its path twice, so that only a registry shows what users wait for.
 */
export async function loopbackRegistry(tarballs: readonly string[]) {
  const configured = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const packages = new Map(tarballs.map((tarball) => [manifestOf(tarball).name, tarball]));
  const server = createServer(({ url = '/' }, response) => {
    const [, name = '', isFile] = /^\/([^/]+)(\/-\/.*)?$/.exec(url) ?? [];
    const tarball = packages.get(name);
    if (tarball === undefined)
      return response.writeHead(307, { location: new URL(url.slice(1), configured).href }).end();
    const bytes = readFileSync(tarball);
    const type = isFile === undefined ? 'application/json' : 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=300' });
    return response.end(isFile === undefined ? JSON.stringify(document(tarball, bytes)) : bytes);
  });
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const document = (tarball: string, bytes: Buffer) => {
    const manifest = manifestOf(tarball);
    const { name, version } = manifest;
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const released = { ...manifest, dist: { tarball: `${origin()}/${name}/-/${name}.tgz`, integrity } };
    return { name, 'dist-tags': { latest: version }, versions: { [version]: released } };
  };
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

function manifestOf(tarball: string): { readonly name: string; readonly version: string } {
  const text = execFileSync('tar', ['-xOzf', tarball, 'package/package.json'], { encoding: 'utf8' });
  return JSON.parse(text) as { readonly name: string; readonly version: string };
}
