import { OptionsError } from '../../errors/options-error.js';
import { count, flag, nonEmpty, type OptionSchemas, optionObject, positive } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { AgentsOfHost } from './agents-by-path.js';

/** TLS of a server. Certificates and keys are PEM, or paths of PEM files, which are read again when they change. */
export interface TlsOptions {
  /** The certificate of the server, followed by those of the authorities between. */
  readonly cert: string;
  readonly key: string;
  /** Opens an encrypted key. */
  readonly passphrase?: string;
  /** The authorities that sign the certificates of clients. With them the server asks clients for a certificate. */
  readonly ca?: string;
  /**
   * True if the server asks clients for a certificate. A client without one is connected too, and an authenticator
   * decides. Default: true with `ca`.
   */
  readonly requestCert?: boolean;
  /** Default `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** The time for which browsers use only https, in seconds (RFC 6797). Default: the server does not say it. */
  readonly hstsSeconds?: number;
  /** The time after which changed files are noticed. Default 10 s. */
  readonly reloadMs?: number;
}

const schemas: OptionSchemas<TlsOptions> = {
  cert: nonEmpty,
  key: nonEmpty,
  passphrase: Type.Optional(nonEmpty),
  ca: Type.Optional(nonEmpty),
  requestCert: Type.Optional(flag),
  minVersion: Type.Optional(Type.String({ enum: ['TLSv1.2', 'TLSv1.3'] })),
  hstsSeconds: Type.Optional(count),
  reloadMs: Type.Optional(positive),
};

/** The schema of TlsOptions. */
export const tlsSchema = Type.Refine(
  optionObject(schemas),
  ({ requestCert, ca }) => requestCert !== true || ca !== undefined,
  // Without it every certificate of a public authority would be verified.
  () => 'requestCert needs ca: the authorities that sign the certificates of clients',
);

/**
 * Refuses an authenticator that needs certificates of clients, if the server does not ask for any.
 * @throws OptionsError
 */
export function checkClientCertificates(
  subject: string,
  { agents, authenticator, tls }: AgentsOfHost & { readonly tls?: TlsOptions },
): void {
  if (tls !== undefined && (tls.requestCert ?? tls.ca !== undefined)) return;
  const all = [authenticator, ...Object.values(agents).map((one) => ('sameAs' in one ? undefined : one.authenticator))];
  if (!all.some((one) => one?.needsClientCertificate === true)) return;
  const problem = 'tls: an authenticator needs certificates of clients; set tls.ca to the authorities that sign them';
  throw new OptionsError(subject, [`${problem}, or tell the authenticator the proxy that has them (forwarded)`]);
}
