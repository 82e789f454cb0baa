import type * as OAuth from 'oauth4webapi';
import { CredentialsError } from '../../errors/credentials-error.js';
import { checkOptions } from '../../options/check-options.js';
import { func, optionObject } from '../../options/option-schemas.js';
import type { Clock } from '../../runtime/clock.js';
import type { SchemeCredentials } from '../credentials/scheme-credentials.js';
import type { OAuthSession } from './authorization-server.js';
import { oauthCredentials } from './oauth-credentials.js';
import { callersOwn, isPassing, oauthErrorCode } from './oauth-failure.js';
import { type OAuthClientOptions, type OAuthRuntime, oauthClientSchemas } from './oauth-options.js';

/** Instructions for a person, on any device with a browser. */
export interface DeviceCodePrompt {
  /** The page to open. */
  readonly verificationUri: string;
  /** The code to type there. */
  readonly userCode: string;
  /** The page with the code in its url, if the authorization server has one. */
  readonly verificationUriComplete?: string;
  /** End of validity, in ms since the epoch. */
  readonly expiresAt: number;
}

/** Options of a client that acts for a person whose browser is on another device. */
export interface DeviceCodeOptions extends OAuthClientOptions {
  /** Shows the instructions. Polling begins when the promise resolves. */
  show(prompt: DeviceCodePrompt): void | Promise<void>;
}

const INTERVAL_S = 5;
/** RFC 8628 §3.5. */
const SLOWER_S = 5;

/** Tokens that a person grants on another device (RFC 8628). */
export function deviceCode(options: DeviceCodeOptions, runtime: OAuthRuntime): SchemeCredentials {
  checkOptions({ subject: 'deviceCode', schema: optionObject({ ...oauthClientSchemas, show: func }), options });
  const { clock } = runtime;
  return oauthCredentials({
    options,
    runtime,
    grant: {
      flow: 'deviceCode',
      tokens: async (session, parameters) => {
        const { library, server, client, authentication, request } = session;
        const answer = await library.processDeviceAuthorizationResponse(
          server,
          client,
          await library.deviceAuthorizationRequest(server, client, authentication, { ...parameters }, request),
        );
        const { device_code: code, expires_in: seconds, interval = INTERVAL_S } = answer;
        const ends = clock.monotonic() + seconds * 1000;
        const prompt: DeviceCodePrompt = {
          verificationUri: answer.verification_uri,
          userCode: answer.user_code,
          ...(answer.verification_uri_complete !== undefined && {
            verificationUriComplete: answer.verification_uri_complete,
          }),
          expiresAt: clock.now() + seconds * 1000,
        };
        await callersOwn(() => options.show(prompt));
        return await poll({ session, code, interval, ends, clock, issuer: options.issuer });
      },
    },
  });
}

interface Polling {
  readonly session: OAuthSession;
  readonly code: string;
  /** In seconds. */
  readonly interval: number;
  /** Monotonic time. */
  readonly ends: number;
  readonly clock: Clock;
  readonly issuer: string;
}

async function poll({ session, code, interval, ends, clock, issuer }: Polling): Promise<OAuth.TokenEndpointResponse> {
  const { library, server, client, authentication, request } = session;
  for (let pause = interval; ; ) {
    // A server may ask for a longer pause than the lifetime of its code.
    const left = Math.max(0, ends - clock.monotonic());
    await pauseFor(clock, Math.min(pause * 1000, left), request.signal);
    // A timer may fire a little early, so the planned pause decides, not the clock.
    if (pause * 1000 >= left) throw new CredentialsError('refused', `${issuer} refuses a token: expired_token`);
    try {
      const response = await library.deviceCodeGrantRequest(server, client, authentication, code, request);
      return await library.processDeviceCodeResponse(server, client, response);
    } catch (error) {
      request.signal.throwIfAborted();
      const said = oauthErrorCode(error);
      if (said === 'slow_down') pause += SLOWER_S;
      else if (isPassing(error)) pause *= 2;
      else if (said !== 'authorization_pending') throw error;
    }
  }
}

async function pauseFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  const disarm = clock.after(ms, resolve);
  try {
    await promise;
  } finally {
    disarm();
    signal.removeEventListener('abort', leave);
  }
}
