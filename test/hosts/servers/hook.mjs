// A webhook as a web handler, for the runtimes that have Request and Response.
import { PushReceiver } from 'parley-a2a/push-receiver';

/** The token that senders need if they sign nothing. */
const TOKEN = 'pl4nted-s3cret-hook';

/**
 * Handles POST with a receiver; GET gives what was handled and what was refused. With `?keys=` in its url the
 * notifications need a signature by the keys at that address, instead of the token.
 */
export function hook() {
  const hooks = new Map();
  return async (request) => {
    const jwksUrl = new URL(request.url).searchParams.get('keys');
    if (!hooks.has(jwksUrl)) hooks.set(jwksUrl, newHook(jwksUrl, request.url));
    const { receiver, notifications, refusals } = hooks.get(jwksUrl);
    return request.method === 'GET' ? Response.json({ notifications, refusals }) : receiver.fetch(request);
  };
}

function newHook(jwksUrl, audience) {
  const notifications = [];
  const refusals = [];
  const signature = { issuer: 'https://agent.example', audience, jwksUrl, allow: ['127.0.0.1'] };
  const receiver = new PushReceiver({
    ...(jwksUrl === null ? { token: TOKEN } : { signature }),
    bytes: 16_384,
    onNotification: (notification) => void notifications.push(notification),
    onRefusal: ({ status, reason }) => void refusals.push(`${status} ${reason}`),
  });
  return { receiver, notifications, refusals };
}
