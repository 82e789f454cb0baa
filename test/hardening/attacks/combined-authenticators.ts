import type { Attack } from './attack.js';

const USERS = 'test/gate/combined-users.test.ts';
const PROPERTIES = 'packages/parley/src/auth/combined-users.test.ts';
const OPTIONS = 'test/hardening/closed-options.test.ts';
const SCHEMES = 'test/gate/unchecked-schemes.test.ts';
const SERVED = 'test/cli/serve-keys.test.ts';

export const COMBINED_AUTHENTICATORS: readonly Attack[] = [
  {
    attack: 'A key without tenants beside a certificate with a list: the list grants what the rule refuses to the key',
    file: USERS,
    test: 'a missing list of the first asks the rule',
  },
  {
    attack: 'The same with the members in the other order, so that the list comes first',
    file: USERS,
    test: 'a missing list of the second asks the rule',
  },
  {
    attack: 'An empty list of tenants counts as a missing one, which the rule would fill',
    file: USERS,
    test: 'an empty list beside a missing one grants none',
  },
  {
    attack: 'A client registers with the name of a person, and joins the scopes of her key with those of its token',
    file: USERS,
    test: 'joins no user of the same name',
  },
  {
    attack: 'A client whose token has its client_id as the subject reads the tasks of the user with that subject',
    file: USERS,
    test: 'does not own the tasks of the user with its name',
  },
  {
    attack: 'A person takes the subject of another one at a second authorization server, and joins her credentials',
    file: PROPERTIES,
    test: 'every combination has the first owner, narrows tenants and ends, and unites scopes and permissions',
  },
  {
    attack: 'An inner allOf hides the limits of its members from the outer one',
    file: PROPERTIES,
    test: 'the order and the nesting of allOf change the owner only',
  },
  {
    attack:
      'A request of a trusted page, then one of a foreign page with the same user: the joined answer is remembered',
    file: USERS,
    test: 'is not that of an earlier request whose page was allowed',
  },
  {
    attack: 'An authenticator gives tenants as one text: a caller names a part of the text as its tenant',
    file: USERS,
    test: 'tenants are one text, of which each part would be a tenant',
  },
  {
    attack: 'An authenticator gives the end of a credential as a text, which is never in the past',
    file: USERS,
    test: 'end is a text, which no time passes',
  },
  {
    attack: 'A stream goes on in a tenant that its user has lost since the stream began',
    file: 'test/gate/asked-again.test.ts',
    test: 'and the stream ends if its user has lost %s',
  },
  {
    attack: 'A call without a credential where the card asks for one and the authenticator is optional',
    file: 'test/matrix/security-requirements.test.ts',
    test: 'lets no anonymous caller in if all requirements of the card ask for a credential',
  },
  {
    attack: 'A call without a credential where the card asks for one and no authenticator exists',
    file: SCHEMES,
    test: 'needs an authenticator, because it would serve all callers',
  },
  {
    attack: 'An expired key of a file that names its end `expires`',
    file: SERVED,
    test: 'does not start with a file that has %s',
  },
  {
    attack: 'The same key in a file that changes while the server runs',
    file: SERVED,
    test: 'keeps the last keys if a changed file has an unknown member',
  },
  {
    attack: 'A call to a module whose authenticator stands beside its agent, where no server reads it',
    file: SERVED,
    test: 'exports its authenticator beside the agent',
  },
  {
    attack: 'A token without a scope where the option is written `requiredScope`',
    file: OPTIONS,
    test: 'refuses a misspelt %s, and names the right one',
  },
  {
    attack: 'A new authenticator whose options nobody checks',
    file: OPTIONS,
    test: 'has its row, so that a misspelt option is refused',
  },
  {
    attack: 'A certificate header in a format that is misspelt, and so read without its verification',
    file: OPTIONS,
    test: 'a wrong word for %s is refused with the right one',
  },
  {
    attack: 'Options of keys with `issuer`: their users get the ids of users with passwords',
    file: OPTIONS,
    test: 'keys take no issuer, by which their users would be those of another scheme',
  },
  {
    attack: 'Claims that a rule requires beside introspection, which reads no such rule',
    file: OPTIONS,
    test: 'rules of JWTs are refused beside introspection',
  },
  {
    attack: 'Required scopes that are none: no argument, or a list in the place of texts',
    file: OPTIONS,
    test: 'required scopes are at least one text',
  },
  {
    attack: 'A function that gives the user of a certificate an end with another name',
    file: OPTIONS,
    test: 'the user of a certificate has no unknown member',
  },
];
