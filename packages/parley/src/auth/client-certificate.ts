/** The certificate of a client, from its TLS connection or from a proxy that ended the connection. */
export interface ClientCertificate {
  /** The reason why the certificate is not accepted, such as `CERT_HAS_EXPIRED`. Absent: it was verified. */
  readonly problem?: string;
  /** The attributes of the subject by short name, such as `CN`. A subject may repeat an attribute. */
  readonly subject: Readonly<Record<string, readonly string[]>>;
  /** The subject alternative names: DNS names, URIs and mail addresses. */
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
  /** The SHA-256 of the certificate, as 64 lower-case hex digits. Absent if a proxy does not tell it. */
  readonly fingerprint?: string;
  /** The start of its validity, ms since the epoch. Absent if a proxy does not tell it. */
  readonly startsAt?: number;
  /** The end of its validity, ms since the epoch. Absent if a proxy does not tell it. */
  readonly expiresAt?: number;
}
