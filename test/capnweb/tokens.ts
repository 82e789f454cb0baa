import type { Authentication, Authenticator } from 'parley-a2a/auth';
import { HELLO } from './session-world.js';

/** The hello of the user of a token. */
export const bearer = (value: string) => ({ ...HELLO, credential: { scheme: 'tokens', value } });

/** A pending check of a token, which a test answers. */
interface Question {
  readonly asked: PromiseWithResolvers<void>;
  readonly answered: PromiseWithResolvers<void>;
}

/** Tokens that begin with the names of their users. A test revokes them. `.endless` at the end: without expiry. */
export function tokens(lastsMs?: number) {
  const revoked = new Map<string, AbortController>();
  const asked: string[] = [];
  let question: Question | undefined;
  const findUser = (token: string): Authentication => {
    asked.push(token);
    const end = revoked.get(token) ?? new AbortController();
    revoked.set(token, end);
    if (token.startsWith('bad') || end.signal.aborted) return { kind: 'refused', reason: 'unknown' };
    const [name = ''] = token.split('.');
    const expiresAt = lastsMs === undefined ? undefined : Date.now() + lastsMs;
    const user = { id: `t|${name}`, ...(expiresAt && { expiresAt }) };
    return { kind: 'user', user, ...(!token.endsWith('.endless') && { revoked: end.signal }) };
  };
  const authenticator: Authenticator = {
    challenges: ['Bearer'],
    securitySchemes: {
      tokens: { httpAuthSecurityScheme: { scheme: 'bearer' } },
      keys: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
      queried: { apiKeySecurityScheme: { location: 'query', name: 'k' } },
      cookies: { apiKeySecurityScheme: { location: 'cookie', name: 'sid' } },
    },
    authenticate: (credentials) => {
      const [, bearerToken] = /^Bearer (.*)$/.exec(credentials.header('authorization') ?? '') ?? [];
      const [, cookie] = /^sid=(.*)$/.exec(credentials.header('cookie') ?? '') ?? [];
      const queried = new URLSearchParams(credentials.query).get('k') ?? undefined;
      const token = bearerToken ?? credentials.header('x-key') ?? queried ?? cookie;
      if (token === undefined) return { kind: 'anonymous' };
      const answer = findUser(token);
      if (question === undefined) return answer;
      question.asked.resolve();
      return question.answered.promise.then(() => answer);
    },
  };
  return {
    authenticator,
    /** The tokens of all questions so far. */
    asked,
    revoke: (token: string) => revoked.get(token)?.abort(),
    /** Delays the next answers. */
    keepBack: () => {
      const own = { asked: Promise.withResolvers<void>(), answered: Promise.withResolvers<void>() };
      question = own;
      return {
        /** Resolves with the first question. */
        asked: own.asked.promise,
        answer: () => {
          question = undefined;
          own.answered.resolve();
        },
      };
    },
  };
}
