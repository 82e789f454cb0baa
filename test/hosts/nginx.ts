import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/servers/free-port.js';
import { HostProcess } from './host-process.js';

/** The paths below which nginx serves the agents of its upstream, each with other settings. */
export const ROUTES = {
  /** Removes its prefix, and sends it in a header. */
  stripping: '/a2a',
  /** Forwards paths unchanged. */
  plain: '',
  /** Sends only the standard header `Forwarded`. */
  standard: '/rfc7239',
  /** Comes from an address that the upstream does not trust. */
  untrusted: '/untrusted',
  /** The defaults of nginx: HTTP/1.0 to the upstream, and a new connection for each request. */
  bare: '/bare',
  /** Gives up on an upstream that is silent for five seconds: a busy machine stands still for up to three. */
  impatient: '/impatient',
  /** Gives up before a heartbeat can come. */
  tooImpatient: '/too-impatient',
} as const;

const config = (port: number, upstream: string) => {
  const common = `
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header Forwarded "";`;
  const locationBlock = (prefix: string, settings: string) => `
    location ${prefix}/ {
      proxy_pass http://agents/;
      proxy_set_header X-Forwarded-Prefix ${prefix};${common}${settings}
    }`;
  return `
daemon off;
pid nginx.pid;
worker_processes 1;
error_log stderr notice;
${userInfo().uid === 0 ? 'user root root;' : ''}
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  gzip on;
  gzip_proxied any;
  gzip_types *;
  gzip_min_length 0;
  upstream agents {
    server ${upstream};
    keepalive 8;
  }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / {
      proxy_pass http://agents;
      proxy_http_version 1.1;
      proxy_set_header Connection "";${common}
    }
${locationBlock(ROUTES.stripping, '\n      proxy_set_header Connection "";')}
${locationBlock(ROUTES.impatient, '\n      proxy_read_timeout 5s;')}
${locationBlock(ROUTES.tooImpatient, '\n      proxy_read_timeout 100ms;')}
    location ${ROUTES.untrusted}/ {
      # Past the connections that are kept: they come from another address.
      proxy_pass http://${upstream}/;
      proxy_bind 127.0.0.2;
      proxy_set_header X-Forwarded-Prefix ${ROUTES.untrusted};${common}
    }
    location ${ROUTES.standard}/ {
      proxy_pass http://agents/;
      proxy_set_header Connection "";
      proxy_set_header Forwarded 'for=$remote_addr;host="$http_host";proto=$scheme';
      proxy_set_header X-Forwarded-Prefix ${ROUTES.standard};
    }
    location ${ROUTES.bare}/ {
      proxy_http_version 1.0;
      proxy_pass http://${upstream}/;
      proxy_set_header Connection close;
      proxy_set_header X-Forwarded-Prefix ${ROUTES.bare};
      proxy_set_header X-Forwarded-Host $http_host;
    }
  }
}
`;
};

/** A real nginx in front of a server, with everything it writes in a folder of its own. */
export class Nginx implements AsyncDisposable {
  readonly url: string;
  readonly #process: HostProcess;
  readonly #folder: string;

  private constructor(process: HostProcess, folder: string) {
    this.url = process.url;
    this.#process = process;
    this.#folder = folder;
  }

  static async start(upstream: string): Promise<Nginx> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-nginx-'));
    const port = await freePort();
    const file = join(folder, 'nginx.conf');
    await writeFile(file, config(port, new URL(upstream).host));
    const command = ['nginx', '-p', folder, '-c', file, '-e', 'stderr'];
    return new Nginx(
      await HostProcess.start({ command, ready: /start worker process \d/, endsItsChildren: true }, port),
      folder,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
