import { createHmac, randomUUID } from 'node:crypto';

/** The issuer, the audience and the shared secret of the tokens of the benchmark. */
export const TOKEN_RULES = {
  issuer: 'https://benchmark.example',
  audience: 'benchmark',
  secret: Buffer.alloc(32, 'benchmark'),
} as const;

/** A token of a caller, signed with the shared secret. It is valid for an hour. */
export function benchmarkToken(sub = 'caller'): string {
  const { issuer: iss, audience: aud, secret } = TOKEN_RULES;
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    iss,
    aud,
    sub,
    client_id: 'benchmark',
    scope: 'read write',
    jti: randomUUID(),
    iat,
    exp: iat + 3_600,
  };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map(encoded).join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
