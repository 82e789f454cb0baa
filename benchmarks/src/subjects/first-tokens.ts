// Checks new tokens, each of another user: by Web Crypto alone, by the library with its rules, and by our
// authenticator. They take turns, one token at a time.
import { jwtVerify } from 'jose';
import { JwtBearer } from 'parley-a2a/auth';
import { median } from '../report/summary.js';
import { benchmarkToken, TOKEN_RULES } from './benchmark-token.js';
import { tellFigures } from './subject-host.js';

const ROUNDS = 17;
/** The first rounds run before the code is compiled. */
const WARM_UP_ROUNDS = 2;
const TOKENS = 4_000;

const { issuer, audience, secret } = TOKEN_RULES;
const hmac = { name: 'HMAC', hash: 'SHA-256' };
const key = await crypto.subtle.importKey('raw', new Uint8Array(secret), hmac, false, ['verify']);
const authenticator = new JwtBearer(TOKEN_RULES);
/** Stands for the connection of a gateway, over which the tokens of all users come. */
const connection = {};
const rules = { issuer, audience, algorithms: ['HS256'], requiredClaims: ['exp'], clockTolerance: 5 };

const checks: Readonly<Record<'bare' | 'library' | 'whole', (token: string) => Promise<boolean>>> = {
  bare: (token) => {
    const end = token.lastIndexOf('.');
    const signature = Buffer.from(token.slice(end + 1), 'base64url');
    return crypto.subtle.verify('HMAC', key, signature, Buffer.from(token.slice(0, end)));
  },
  library: async (token) => (await jwtVerify(token, key, rules)).payload.sub !== undefined,
  whole: async (token) => {
    const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined);
    return (await authenticator.authenticate({ header, query: '', connection })).kind === 'user';
  },
};

const costs = new Map<string, number[]>(Object.keys(checks).map((name) => [name, []]));
let users = 0;
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, isValid] of Object.entries(checks)) {
    const tokens = Array.from({ length: TOKENS }, () => benchmarkToken(`caller-${users++}`));
    const before = process.cpuUsage();
    for (const token of tokens) if (!(await isValid(token))) throw new Error(`${name} refuses a valid token`);
    const { user, system } = process.cpuUsage(before);
    if (round >= WARM_UP_ROUNDS) costs.get(name)?.push((user + system) / TOKENS);
  }
}
tellFigures(Object.fromEntries([...costs].map(([name, each]) => [name, median(each) ?? Number.NaN])));
