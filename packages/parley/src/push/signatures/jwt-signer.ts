import { missingPackage } from '../../errors/missing-package.js';
import { sha256Hex } from '../../runtime/sha256.js';
import type { NotificationSigner } from '../notification-calls.js';
import type { SignatureOptions } from '../signing-keys.js';

const LIFETIME_S = 300;

/** Makes signatures as JWT (RFC 7519): issuer, webhook, times, id of the notification, and hash of the body. */
export async function jwtSigner({ issuer, keys }: SignatureOptions): Promise<NotificationSigner> {
  const [jwk] = keys;
  if (jwk === undefined) throw new TypeError('A signer has a key');
  const { kid, alg } = jwk;
  const missing = missingPackage('Signatures of push notifications need', 'jose');
  // A bundle without the optional package still builds, and one with it has only these parts.
  const [{ importJWK }, { SignJWT }] = await Promise.all([
    import('jose/key/import').catch(missing),
    import('jose/jwt/sign').catch(missing),
  ]);
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
