import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Agent, signIn } from '../agents.js';
import { followedUrl } from '../markdown-inline.js';
import { type OAuthLogin, redirectUri } from '../oauth-login.js';
import { shownName } from '../shown-name.js';
import { CopyButton, Failure } from './controls.js';
import { OutsideLink } from './markdown.js';

/** The next step of the user at the authorization server. */
interface Step {
  readonly url: string;
  /** The code to enter there. Absent: none. */
  readonly code?: string;
}

const TITLES = { authorizationCode: 'Sign in by a page', deviceCode: 'Sign in with a code' } as const;

/** A sign-in by OAuth 2 or OpenID Connect: with a page that sends the user back, or with a code. */
export function OAuthForm({ agent, login }: { readonly agent: Agent; readonly login: OAuthLogin }) {
  const clientId = useSignal('');
  const issuer = useSignal(login.issuer);
  const step = useSignal<Step | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    running.current?.abort();
    const run = new AbortController();
    running.current = run;
    step.value = undefined;
    failure.value = undefined;
    const asked = { ...login, clientId: clientId.value.trim(), issuer: issuer.value.trim() };
    try {
      const { signInBy } = await import('../oauth-sign-in.js');
      await signInBy(asked, agent, {
        signal: run.signal,
        onPage: (url) => {
          step.value = { url };
        },
        onCode: ({ userCode, verificationUri, verificationUriComplete = verificationUri }) => {
          step.value = { url: verificationUriComplete, code: userCode };
        },
      });
      signIn(agent, { login: asked });
    } catch (error) {
      if (!run.signal.aborted) failure.value = error instanceof Error ? error.message : String(error);
      step.value = undefined;
    }
  };
  return (
    <form class="box" onSubmit={submit}>
      <h2>{TITLES[login.flow]}</h2>
      <p>
        <bdi>{shownName(login.scheme, 80)}</bdi>
        {login.scopes.length > 0 && `: ${shownName(login.scopes.join(' '), 200)}`}
      </p>
      <label>
        Authorization server
        <input
          type="url"
          value={issuer.value}
          onInput={({ currentTarget }) => {
            issuer.value = currentTarget.value;
          }}
        />
      </label>
      <label>
        Client id
        <input
          type="text"
          autoComplete="off"
          value={clientId.value}
          onInput={({ currentTarget }) => {
            clientId.value = currentTarget.value;
          }}
        />
      </label>
      {login.flow === 'authorizationCode' && (
        <p class="facts">
          A public client with the redirect address <code>{redirectUri}</code>
          <CopyButton text={redirectUri} label="Copy" />
        </p>
      )}
      {failure.value !== undefined && <Failure>{shownName(failure.value, 300)}</Failure>}
      {step.value !== undefined && <NextStep step={step.value} />}
      <button type="submit" class="primary" disabled={clientId.value.trim() === ''}>
        {step.value === undefined ? 'Sign in' : 'Start again'}
      </button>
    </form>
  );
}

function NextStep({ step: { url, code } }: { readonly step: Step }) {
  const followed = followedUrl(url);
  const host = URL.parse(url)?.host ?? '';
  return (
    <p class="step" role="status">
      {code !== undefined && (
        <>
          Your code is <strong>{shownName(code, 40)}</strong>.{' '}
        </>
      )}
      {followed === undefined ? (
        'The authorization server gave no page to open.'
      ) : (
        <OutsideLink url={followed}>Continue at {shownName(host, 80)}</OutsideLink>
      )}
    </p>
  );
}
