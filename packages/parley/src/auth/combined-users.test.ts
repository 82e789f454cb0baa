import fc from 'fast-check';
import { expect, it } from 'vitest';
import { grantedTenant } from '../server/tenant-guarded-handler.js';
import { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from './authenticator.js';
import { allOf, anyOf } from './combinations.js';
import { optional } from './requirements.js';
import type { User } from './user.js';

/** Callers: those of one letter are one person, under the names of several schemes. */
const IDS: Readonly<Record<string, { readonly person: string; readonly server?: string }>> = {
  'apikey|a': { person: 'a' },
  'mtls|a': { person: 'a' },
  'https://x|a': { person: 'a', server: 'x' },
  'https://y|a': { person: 'a', server: 'y' },
  'https://x#client|a': { person: 'client a', server: 'x' },
  'apikey|b': { person: 'b' },
  'other|form|a': { person: 'other' },
};
const TENANTS = ['r', 's', 't', 'u'];
const WORDS = ['read', 'write', 'admin'];

type Tree =
  | { readonly kind: 'leaf'; readonly answer: Authentication | Error; readonly isLate: boolean }
  | { readonly kind: 'all'; readonly members: readonly Tree[]; readonly differentUsers: boolean }
  | { readonly kind: 'any'; readonly members: readonly Tree[] }
  | { readonly kind: 'optional'; readonly member: Tree };

type Known = Extract<Authentication, { kind: 'user' }>;
/** The outcome by the documents: the joined credentials, the first of which names the owner, or no user. */
type Outcome = readonly Known[] | 'anonymous' | 'refused' | 'error';

const some = (words: readonly string[]) => fc.option(fc.subarray([...words]), { nil: undefined });
const known = fc
  .record({
    id: fc.constantFrom(...Object.keys(IDS)),
    tenants: some(TENANTS),
    scopes: some(WORDS),
    permissions: some(WORDS),
    expiresAt: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    isPageAllowed: fc.boolean(),
    askAgainAt: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    isRevoked: fc.boolean(),
  })
  .map(({ isPageAllowed, askAgainAt, isRevoked, ...user }): Known => {
    const members = Object.entries(user).filter(([, value]) => value !== undefined);
    return {
      kind: 'user',
      user: Object.fromEntries(members) as unknown as User,
      ...(isPageAllowed && { pageAllowed: true }),
      ...(askAgainAt !== undefined && { askAgainAt }),
      ...(isRevoked && { revoked: AbortSignal.abort() }),
    };
  });
const leaf = fc.record({
  kind: fc.constant('leaf' as const),
  answer: fc.oneof(
    { weight: 8, arbitrary: known },
    fc.constant<Authentication>(ANONYMOUS),
    fc.constant<Authentication>({ kind: 'refused', reason: 'wrong' }),
    fc.constant<Authentication>({ kind: 'refused', reason: 'narrow', missingScopes: ['x'] }),
    fc.constant(new Error('down')),
  ),
  isLate: fc.boolean(),
});
const { tree } = fc.letrec<{ tree: Tree }>((tie) => {
  const members = fc.array(tie('tree'), { minLength: 1, maxLength: 3 });
  return {
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.record({ kind: fc.constant('all' as const), members, differentUsers: fc.boolean() }),
      fc.record({ kind: fc.constant('any' as const), members }),
      fc.record({ kind: fc.constant('optional' as const), member: tie('tree') }),
    ),
  };
});

function authenticatorOf(node: Tree): Authenticator {
  if (node.kind === 'optional') return optional(authenticatorOf(node.member));
  if (node.kind === 'any') return anyOf(...node.members.map(authenticatorOf));
  if (node.kind === 'all') return allOf(...node.members.map(authenticatorOf), { differentUsers: node.differentUsers });
  const { answer, isLate } = node;
  const authenticate = (): Authentication => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { challenges: [], authenticate: isLate ? async () => authenticate() : authenticate };
}

function isOptional(node: Tree): boolean {
  if (node.kind === 'leaf') return false;
  if (node.kind === 'optional') return true;
  return node.kind === 'any' ? node.members.some(isOptional) : node.members.every(isOptional);
}

function expectedOutcome(node: Tree): Outcome {
  if (node.kind === 'optional') return expectedOutcome(node.member);
  if (node.kind === 'leaf') {
    if (node.answer instanceof Error) return 'error';
    return node.answer.kind === 'user' ? [node.answer] : node.answer.kind;
  }
  const outcomes = node.members.map(expectedOutcome);
  const users = outcomes.filter((one) => typeof one === 'object');
  const has = (word: Outcome) => outcomes.includes(word);
  if (node.kind === 'any') return users[0] ?? (has('error') ? 'error' : has('refused') ? 'refused' : 'anonymous');
  if (has('refused')) return 'refused';
  if (has('error')) return 'error';
  if (users.length === 0) return 'anonymous';
  if (node.members.some((one, at) => outcomes[at] === 'anonymous' && !isOptional(one))) return 'refused';
  const owners = users.map(([first]) => IDS[first?.user.id ?? '']);
  const differ = (of: 'person' | 'server') => new Set(owners.flatMap((one) => one?.[of] ?? [])).size > 1;
  return !node.differentUsers && (differ('person') || differ('server')) ? 'refused' : users.flat();
}

async function authenticateWith(authenticator: Authenticator): Promise<Authentication | 'error'> {
  try {
    return await authenticator.authenticate({} as Credentials);
  } catch {
    return 'error';
  }
}

/** The effective rights of an authenticated user. `ruled`: the tenants that the rule of the operator grants. */
function rightsOf({ user, revoked, pageAllowed, askAgainAt }: Known, ruled: readonly string[]) {
  const sortList = (list: readonly string[] = []) => [...list].sort();
  return {
    owner: user.id,
    tenants: TENANTS.filter((tenant) => grantedTenant(user, tenant, (_, one) => ruled.includes(one))),
    scopes: sortList(user.scopes),
    permissions: sortList(user.permissions),
    expiresAt: user.expiresAt,
    isRevoked: revoked?.aborted === true,
    pageAllowed: pageAllowed === true,
    askAgainAt,
  };
}

const least = (times: readonly number[]) => (times.length === 0 ? undefined : Math.min(...times));

it('every combination has the first owner, narrows tenants and ends, and unites scopes and permissions', async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.subarray(TENANTS), async (node, ruled) => {
      const authenticator = authenticatorOf(node);
      const answer = await authenticateWith(authenticator);
      const outcome = expectedOutcome(node);
      if (typeof outcome === 'string') {
        expect(answer === 'error' ? answer : answer.kind).toBe(outcome);
        return;
      }
      const uniteLists = (name: 'scopes' | 'permissions') =>
        [...new Set(outcome.flatMap(({ user }) => user[name] ?? []))].sort();
      expect(rightsOf(answer as Known, ruled)).toEqual({
        owner: outcome[0]?.user.id,
        tenants: TENANTS.filter((one) => outcome.every(({ user }) => (user.tenants ?? ruled).includes(one))),
        scopes: uniteLists('scopes'),
        permissions: uniteLists('permissions'),
        expiresAt: least(outcome.flatMap(({ user }) => user.expiresAt ?? [])),
        isRevoked: outcome.some(({ revoked }) => revoked?.aborted),
        pageAllowed: outcome.every((one) => one.pageAllowed),
        askAgainAt: least(outcome.flatMap((one) => one.askAgainAt ?? [])),
      });
      // A second request has an answer of its own.
      expect(rightsOf((await authenticateWith(authenticator)) as Known, ruled)).toEqual(
        rightsOf(answer as Known, ruled),
      );
    }),
    { numRuns: 2_000 },
  );
});

it('the order and the nesting of allOf change the owner only', async () => {
  const leafOf = (answer: Known): Tree => ({ kind: 'leaf', answer, isLate: false });
  const all = (...members: readonly Tree[]): Tree => ({ kind: 'all', members, differentUsers: true });
  await fc.assert(
    fc.asyncProperty(fc.tuple(known, known, known), fc.subarray(TENANTS), async (answers, ruled) => {
      const [a, b, c] = answers.map(leafOf) as [Tree, Tree, Tree];
      const rights = async (node: Tree) => rightsOf((await authenticateWith(authenticatorOf(node))) as Known, ruled);
      const flat = await rights(all(a, b, c));
      expect(await rights(all(all(a, b), c))).toEqual(flat);
      expect(await rights(all(a, all(b, c)))).toEqual(flat);
      expect(await rights(all(c, b, a))).toEqual({ ...flat, owner: answers[2].user.id });
      expect(await rights(all(a, a, b, c))).toEqual(flat);
    }),
  );
});
