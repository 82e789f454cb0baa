import { afterEach, describe, expect, it } from 'vitest';
import { attackRequestLines } from '../../../test/attack-request-lines.js';
import { type LoopbackRedirect, loopbackRedirect } from './loopback-redirect.js';

let redirect: LoopbackRedirect | undefined;
afterEach(async () => {
  await redirect?.close();
  redirect = undefined;
});

const never = new AbortController().signal;
const page = (state: string) => `https://login.example.com/auth?state=${state}&client_id=x`;

describe('a browser that comes back to this machine', () => {
  it('brings the whole address, and is told that it is done', async () => {
    const opened: string[] = [];
    const answers: Promise<Response>[] = [];
    redirect = await loopbackRedirect({
      open: (url) => {
        opened.push(url);
        // A person who answers at once, before the listener waits.
        answers.push(fetch(`${redirect?.redirectUri}?code=c1&state=s1`));
      },
    });
    expect(redirect.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(await redirect.authorize(page('s1'), never)).toBe(`${redirect.redirectUri}?code=c1&state=s1`);
    expect(opened).toEqual([page('s1')]);
    const [answer] = await Promise.all(answers);
    expect(answer?.status).toBe(200);
    expect(answer?.headers.get('cache-control')).toBe('no-store');
    expect(await answer?.text()).not.toContain('c1');
  });

  it('is told from every other visitor by its state and path', async () => {
    redirect = await loopbackRedirect({ open: () => {}, path: '/back' });
    const { redirectUri } = redirect;
    const [one, two] = [redirect.authorize(page('s1'), never), redirect.authorize(page('s2'), never)];
    for (const stranger of [
      `${redirectUri}?code=x&state=s3`,
      redirectUri,
      redirectUri.replace('/back', '/?state=s1'),
    ]) {
      expect((await fetch(stranger)).status).toBe(404);
    }
    await fetch(`${redirectUri}?code=c2&state=s2`);
    await fetch(`${redirectUri}?code=c1&state=s1`);
    expect(await one).toContain('code=c1');
    expect(await two).toContain('code=c2');
    // The listener has ended.
    expect((await fetch(`${redirectUri}?code=again&state=s1`)).status).toBe(404);
  });

  it('is not waited for by those who leave, or where it cannot be opened', async () => {
    const leaving = new AbortController();
    redirect = await loopbackRedirect({ open: () => {} });
    const waiting = redirect.authorize(page('s1'), leaving.signal);
    leaving.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(redirect.authorize(page('s1'), leaving.signal)).rejects.toThrow('enough');
    expect((await fetch(`${redirect.redirectUri}?code=c1&state=s1`)).status).toBe(404);
    await redirect.close();
    redirect = await loopbackRedirect({ open: () => Promise.reject(new Error('no browser')) });
    await expect(redirect.authorize(page('s1'), never)).rejects.toThrow('no browser');
  });
  it('outlives every request line', async () => {
    redirect = await loopbackRedirect({ open: () => {} });
    const waiting = redirect.authorize(page('s1'), never);
    await attackRequestLines(Number(new URL(redirect.redirectUri).port));
    await fetch(`${redirect.redirectUri}?code=c1&state=s1`);
    expect(await waiting).toBe(`${redirect.redirectUri}?code=c1&state=s1`);
  });
});
