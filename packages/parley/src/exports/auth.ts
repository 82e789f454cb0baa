/** Authenticators for servers, and their contract. */

export { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from '../auth/authenticator.js';
export type { ClientCertificate } from '../auth/client-certificate.js';
export { type BearerToken, BearerTokens } from '../auth/schemes/bearer-tokens.js';
export { type User, userId } from '../auth/user.js';
