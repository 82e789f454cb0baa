import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Agent, type CardVerification, failureOf, needsSignIn, verifyOwnCard } from '../agents.js';
import { shownName } from '../shown-name.js';
import { Failure, Json } from './controls.js';

interface Problems {
  readonly wrong: readonly string[];
  readonly unknown: readonly string[];
}

const MOST_SHOWN = 50;

/** The problems that `parley card get --validate` finds. The code of the check is loaded with this view. */
export function CardProblemList({ card }: { readonly card: unknown }) {
  const found = useSignal<Problems | undefined>(undefined);
  useEffect(() => {
    void import('parley-a2a-conformance/card').then(({ cardProblems }) => {
      found.value = cardProblems(card);
    });
  }, [card, found]);
  const { wrong = [], unknown = [] } = found.value ?? {};
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      {found.value === undefined ? (
        <p>Checking the card</p>
      ) : (
        wrong.length + unknown.length === 0 && <p>The card follows the schema.</p>
      )}
      <ul class="rows">
        {wrong.slice(0, MOST_SHOWN).map((problem) => (
          <li key={problem}>
            <span class="grow">{shownName(problem, 300)}</span>
            <span class="tag">against the schema</span>
          </li>
        ))}
        {unknown.slice(0, MOST_SHOWN).map((member) => (
          <li key={member}>
            <span class="grow">{shownName(member, 300)}</span>
            <span>the schema does not know this member</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows whether the card is signed, and by which key. A card of this server is checked by the keys of the server. */
export function Signatures({ agent }: { readonly agent: Agent }) {
  const { card, place } = agent;
  const found = useSignal(place.verification);
  const count = card.signatures?.length ?? 0;
  const isOwn = place.calls === undefined;
  useEffect(() => {
    if (!isOwn || count === 0) return;
    verifyOwnCard(agent).then(
      (verification) => {
        found.value = verification;
      },
      () => {},
    );
  }, [agent, isOwn, count, found]);
  const text = signatureText(count, found.value);
  return <span>{isOwn && found.value?.status === 'verified' ? `${text} by a key of this server` : text}</span>;
}

function signatureText(signatures: number, verification: CardVerification | undefined): string {
  if (signatures === 0) return 'Not signed';
  if (verification === undefined) return 'Signed. Not verified: no key is trusted';
  const { status } = verification;
  const last = verification.signatures.at(-1);
  const key = [last?.kid, last?.alg].filter((one) => one !== undefined).join(', ');
  if (status === 'verified') return `Signature verified (${shownName(key, 120)})`;
  return `No signature is valid: ${shownName(last?.fault ?? 'no trusted key has signed the card', 200)}`;
}

/** The card for authenticated callers, on a click. */
export function ExtendedCard({ agent }: { readonly agent: Agent }) {
  const card = useSignal<unknown>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const show = async (): Promise<void> => {
    failure.value = undefined;
    try {
      card.value = await agent.extendedCard();
    } catch (error) {
      failure.value = failureOf(agent, error);
    }
  };
  return (
    <section aria-labelledby="extended">
      <h2 id="extended">Extended card</h2>
      {needsSignIn(agent) ? (
        <p>The agent gives it to callers who have signed in. Open the conversation to sign in.</p>
      ) : (
        <button type="button" onClick={() => void show()}>
          Get the extended card
        </button>
      )}
      {failure.value !== undefined && <Failure>{shownName(failure.value, 300)}</Failure>}
      {card.value !== undefined && <Json value={card.value} label="JSON of the extended card" />}
    </section>
  );
}
