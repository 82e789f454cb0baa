import { SIGNING_EXTENSION, verifiedSigners, verifySigned } from 'parley-a2a-signing';
import { expect, it } from 'vitest';
import { AUDIENCE, executor, SignedWorld, taskOf } from './world.js';

const echo = executor(async (context, events) => {
  const [signer] = verifiedSigners(context);
  const id = await events.artifact(`${signer?.id}: `, { name: 'echo' });
  await events.append(id, context.text);
  await events.complete('done');
});

it('a signed message reaches the agent with the name of its signer, and its answer is signed', async () => {
  await using world = await SignedWorld.make();
  const { url } = await world.listen(echo);
  const client = await world.client(url);
  const answer = await client.sendMessage('hello');
  const task = taskOf(answer);
  expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'shop: ' }, { text: 'hello' }]);
  await verifySigned({ task }, { audience: AUDIENCE, agent: { keys: [world.agent.shown] } });
  const events = [];
  for await (const event of client.sendStreamingMessage('stream')) events.push(event);
  expect(events.length).toBeGreaterThan(3);
  expect(client.card.capabilities.extensions?.find(({ uri }) => uri === SIGNING_EXTENSION)).toMatchObject({
    required: true,
    params: { audience: AUDIENCE, jwksUrl: `${url.replace(/\/$/, '')}/signing/jwks.json` },
  });
});
