import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

/** A certificate with its key, as PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

/** An authority that signs for 127.0.0.1 and for clients. */
export interface Authority {
  readonly ca: string;
  server(): Certified;
  client(name: string, options?: ClientOptions): Certified;
}

/** The content of a certificate of a client. */
export interface ClientOptions {
  /** Default: an hour from now. */
  readonly endsAt?: Date;
  readonly dnsNames?: readonly string[];
  readonly uris?: readonly string[];
}

const HOUR_MS = 3_600_000;

/** Makes one, good for an hour. */
export function makeAuthority(name: string): Authority {
  const keys = newKeys();
  let serial = 0;
  const signCertificate = (
    subject: string,
    own: ReturnType<typeof newKeys>,
    extensions: object[],
    endsAt = new Date(Date.now() + HOUR_MS),
  ): string => {
    const certificate = forge.pki.createCertificate();
    serial += 1;
    certificate.serialNumber = serial.toString(16).padStart(2, '0');
    certificate.publicKey = forge.pki.publicKeyFromPem(own.publicKey);
    certificate.validity.notBefore = new Date(Date.now() - HOUR_MS);
    certificate.validity.notAfter = endsAt;
    certificate.setSubject([{ name: 'commonName', value: subject }]);
    certificate.setIssuer([{ name: 'commonName', value: name }]);
    certificate.setExtensions(extensions);
    certificate.sign(forge.pki.privateKeyFromPem(keys.privateKey), forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  };
  const certify = (subject: string, extensions: object[], endsAt?: Date): Certified => {
    const own = newKeys();
    return { cert: signCertificate(subject, own, extensions, endsAt), key: own.privateKey };
  };
  return {
    ca: signCertificate(name, keys, [{ name: 'basicConstraints', cA: true, critical: true }]),
    server: () => certify('server', [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }]),
    client: (subject, { endsAt, dnsNames = [], uris = [] } = {}) => {
      const altNames = [...dnsNames.map((value) => ({ type: 2, value })), ...uris.map((value) => ({ type: 6, value }))];
      const named = altNames.length > 0 ? [{ name: 'subjectAltName', altNames }] : [];
      return certify(subject, [{ name: 'extKeyUsage', clientAuth: true }, ...named], endsAt);
    },
  };
}

function newKeys() {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
}
