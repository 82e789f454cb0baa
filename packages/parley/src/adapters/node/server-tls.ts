import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { TlsOptions } from '../../app/options/tls-options.js';
import type { ClientCertificate } from '../../auth/client-certificate.js';
import { clientCertificateOf } from '../../auth/x509-certificate.js';
import { OptionsError } from '../../errors/options-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';

/** The TLS of a server: options of `node:https`, and changes of their files. */
export interface ServerTls {
  readonly options: SecureContextOptions & { readonly requestCert: boolean; readonly rejectUnauthorized: false };
  /** Watches the files, and calls the listener with new options. The returned function stops the watch. */
  watch(changed: (options: SecureContextOptions) => void): () => void;
}

/** The options of `serverTls`, and its ports. */
interface ServerTlsSetup {
  readonly tls: TlsOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PEM = '-----BEGIN ';
const WATCH_MS = 10_000;
const FILES = ['cert', 'key', 'ca'] as const;

/** @throws OptionsError if a file cannot be read, or if certificate and key do not make a server. */
export function serverTls({ tls, clock, logger }: ServerTlsSetup): ServerTls {
  const { reloadMs = WATCH_MS } = tls;
  const load = () => checkedContext(contextOf(tls));
  const options = load();
  // A client without a certificate may read the card and the probes. An authenticator refuses all else.
  const requestCert = tls.requestCert ?? tls.ca !== undefined;
  return {
    options: { ...options, requestCert, rejectUnauthorized: false },
    watch: (changed) => {
      let seen = stampOf(tls);
      let cancel = () => {};
      const look = () => {
        try {
          const stamp = stampOf(tls);
          if (stamp !== seen) {
            changed(load());
            seen = stamp;
            logger.info('The certificate of the server was read again');
          }
        } catch (error) {
          logger.error('The certificate of the server cannot be read; the last one stays in use', { error });
        }
        cancel = clock.after(reloadMs, look);
      };
      if (seen !== '') cancel = clock.after(reloadMs, look);
      return () => cancel();
    },
  };
}

function contextOf({ passphrase, minVersion = 'TLSv1.2', ...tls }: TlsOptions): SecureContextOptions {
  const texts = FILES.flatMap((name) => {
    const given = tls[name];
    return given === undefined ? [] : [[name, given.includes(PEM) ? given : readText(name, given)] as const];
  });
  return { ...Object.fromEntries(texts), minVersion, ...(passphrase !== undefined && { passphrase }) };
}

function readText(name: string, path: string): string {
  try {
    return process.getBuiltinModule('node:fs').readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw new OptionsError('tls', [`${name}: the file ${path} cannot be read (${String(code)})`]);
  }
}

function checkedContext(context: SecureContextOptions): SecureContextOptions {
  try {
    process.getBuiltinModule('node:tls').createSecureContext(context);
    return context;
  } catch (error) {
    // Messages of OpenSSL contain no key material.
    throw new OptionsError('tls', [
      `cert and key do not fit: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
}

/** A text that changes when a file changes. Empty if there are no files. */
function stampOf(tls: TlsOptions): string {
  return FILES.flatMap((name) => {
    const path = tls[name];
    if (path === undefined || path.includes(PEM)) return [];
    const { mtimeMs, size, ino } = process.getBuiltinModule('node:fs').statSync(path);
    return [`${name} ${mtimeMs} ${size} ${ino}`];
  }).join();
}

const certificates = new WeakMap<TLSSocket, { readonly certificate: ClientCertificate | undefined }>();

/** The certificate of the client on a connection, parsed once. */
export function connectionCertificate(socket: TLSSocket): ClientCertificate | undefined {
  const known = certificates.get(socket);
  if (known !== undefined) return known.certificate;
  const x509 = socket.getPeerX509Certificate();
  const problem = socket.authorized ? undefined : problemOf(socket.authorizationError);
  const certificate = x509 && clientCertificateOf(x509, problem);
  certificates.set(socket, { certificate });
  return certificate;
}

/** Node gives the code of the error, and types it as an error. */
function problemOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return (error as { readonly code?: string } | undefined)?.code ?? 'not verified';
}
