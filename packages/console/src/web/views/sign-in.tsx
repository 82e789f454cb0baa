import { useSignal } from '@preact/signals';
import { type Agent, refusedAgents, signIn } from '../agents.js';
import { credentialOf, type SignInForm, signInForms } from '../credentials.js';
import { shownName } from '../shown-name.js';
import { Failure, PageTitle } from './controls.js';
import { OAuthForm } from './oauth-form.js';

/** The forms for the credentials that the card of an agent asks for. */
export function SignIn({ agent }: { readonly agent: Agent }) {
  const forms = signInForms(agent.card);
  const isRefused = refusedAgents.value.has(agent.path) && agent.credential !== undefined;
  return (
    <div class="page sign-in">
      <header class="page-head">
        <PageTitle>
          Sign in to <bdi>{shownName(agent.card.name)}</bdi>
        </PageTitle>
        <p class="lead">This agent asks for a credential. It is kept in this tab only, until you close the tab.</p>
      </header>
      {isRefused && <Failure>The agent refused the credential. Check it, and sign in again.</Failure>}
      {forms.length === 0 && <p>The card does not say which credential the agent takes.</p>}
      <div class="cards">
        {forms.map((form, at) =>
          form.kind === 'oauth' ? (
            <OAuthForm key={at} agent={agent} login={form.login} />
          ) : (
            <CredentialForm key={at} agent={agent} form={form} />
          ),
        )}
      </div>
    </div>
  );
}

type TypedForm = Exclude<SignInForm, { readonly kind: 'oauth' }>;

const TITLES: Readonly<Record<TypedForm['kind'], string>> = {
  apiKey: 'API key',
  bearer: 'Bearer token',
  basic: 'User and password',
  other: 'Another way',
};

function CredentialForm({ agent, form }: { readonly agent: Agent; readonly form: TypedForm }) {
  const user = useSignal('');
  const secret = useSignal('');
  if (form.kind === 'other') {
    return (
      <section class="box">
        <h2>{TITLES[form.kind]}</h2>
        <p>The console cannot sign in with {shownName(form.about, 200)}.</p>
      </section>
    );
  }
  const submit = (event: Event): void => {
    event.preventDefault();
    signIn(agent, credentialOf(form, secret.value.trim(), user.value.trim()));
  };
  const label = form.kind === 'basic' ? 'Password' : TITLES[form.kind];
  return (
    <form class="box" onSubmit={submit}>
      <h2>{TITLES[form.kind]}</h2>
      <p>{shownName(form.about, 200)}</p>
      {form.kind === 'basic' && (
        <label>
          User
          <input
            type="text"
            autoComplete="username"
            value={user.value}
            onInput={({ currentTarget }) => {
              user.value = currentTarget.value;
            }}
          />
        </label>
      )}
      <label>
        {label}
        <input
          type="password"
          autoComplete="off"
          value={secret.value}
          onInput={({ currentTarget }) => {
            secret.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={secret.value.trim() === ''}>
        Sign in
      </button>
    </form>
  );
}
