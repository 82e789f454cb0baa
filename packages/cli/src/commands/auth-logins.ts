import { parseCardReference } from '../agent/card-reference.js';
import type { Invocation } from '../command-line/invocation.js';
import { usageError } from '../failure/cli-error.js';
import { LoginStore, type StoredLogin } from '../login/login-store.js';

/** Lists the stored logins, without their tokens. Calls no agent. */
export async function status(invocation: Invocation): Promise<number> {
  const { output } = invocation;
  const store = new LoginStore();
  const reference = referenceOf(invocation);
  const logins = reference === undefined ? store.all() : store.of(reference);
  if (output.json) output.document({ logins: logins.map(loginEntry) });
  else if (logins.length === 0)
    output.note(reference === undefined ? 'There is no stored login.' : `There is no login to ${reference}.`);
  else for (const login of logins) tell(output, login);
  return 0;
}

/** Removes the login to an agent. The authorization server is not called. */
export async function logout(invocation: Invocation): Promise<number> {
  const { output } = invocation;
  const store = new LoginStore();
  const reference = referenceOf(invocation);
  const agents = store.all().map(({ agent }) => agent);
  const known = agents.length === 0 ? 'there is no stored login' : `there are logins to ${agents.join(', ')}`;
  if (reference === undefined) throw usageError('which login? Name its agent', known);
  const [login] = store.of(reference);
  if (login === undefined) throw usageError(`there is no login to ${reference}`, known);
  store.remove(login.agent);
  if (output.json) output.document({ agent: login.agent, removed: true });
  else {
    output.field('Signed out of', login.agent);
    output.note(`${login.issuer} may still accept the token until it expires.`);
  }
  return 0;
}

/** The agent on the command line. Settings of the environment are ignored, so that status lists all logins. */
function referenceOf({ args, settings }: Invocation): string | undefined {
  const flag = settings.findSetting('agent-card')?.source === 'flag' ? settings.text('agent-card') : undefined;
  const reference = args[0] ?? flag;
  return reference === undefined ? undefined : parseCardReference(reference).url.href;
}

function loginEntry({ agent, issuer, scheme, flow, scopes, hasToken, expiresAt }: StoredLogin): object {
  const expires = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
  return { agent, issuer, scheme, flow, scopes, hasToken, ...expires };
}

function tell(output: Invocation['output'], { agent, issuer, scheme, scopes, hasToken, expiresAt }: StoredLogin): void {
  output.field('Agent', agent);
  output.field('Signed in at', issuer);
  output.field('Scheme', scheme);
  if (scopes.length > 0) output.field('Scopes', scopes.join(' '));
  const end = expiresAt === undefined ? 'stored' : `stored, until ${new Date(expiresAt).toISOString()}`;
  output.field('Token', hasToken ? end : 'none: the login was not finished');
}
