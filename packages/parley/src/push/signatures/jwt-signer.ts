import { sha256Hex } from '../../runtime/sha256.js';
import type { NotificationSigner } from '../notification-calls.js';
import type { PushSigningOptions } from '../signing-keys.js';

const LIFETIME_S = 300;

/** Makes signatures as JWT (RFC 7519): issuer, webhook, times, id of the notification, and hash of the body. */
export async function jwtSigner({ issuer, keys }: PushSigningOptions): Promise<NotificationSigner> {
  const [jwk] = keys;
  if (jwk === undefined) throw new TypeError('A signer has a key');
  const { kid, alg } = jwk;
  // Subpath imports, so that a bundle has only these parts of the package.
  const [{ importJWK }, { SignJWT }] = await Promise.all([import('jose/key/import'), import('jose/jwt/sign')]);
  const key = await importJWK(jwk, alg);
  return async ({ id, url, body, now }) => {
    const issuedAt = Math.floor(now / 1_000);
    return new SignJWT({ request_body_sha256: await sha256Hex(body) })
      .setProtectedHeader({ alg, kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(url)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_S)
      .setJti(id)
      .sign(key);
  };
}
