import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Fetch, PublicJwk, SignatureOptions, SignatureVerdict } from 'parley-a2a/client';
import { CliError, usageError } from '../failure/cli-error.js';
import { parseJson, type Settings } from '../settings/settings.js';

/** The result of checking the signatures of a card. */
export interface CardVerification {
  /**
   * `verified`: a trusted key has signed the card. `unverifiable`: no trusted key has. `absent`: the card has no
   * signatures.
   */
  readonly status: 'verified' | 'unverifiable' | 'absent';
  /** Signatures that were checked. */
  readonly signatures: readonly SignatureVerdict[];
}

/** Trusted keys, and the verdicts on the last card. */
export class CardSignatures {
  readonly options: SignatureOptions;
  #verdicts: readonly SignatureVerdict[] = [];

  constructor(trust: SignatureOptions) {
    this.options = {
      ...trust,
      onVerdicts: (verdicts) => {
        this.#verdicts = verdicts;
      },
    };
  }

  get verification(): CardVerification {
    const last = this.#verdicts.at(-1);
    const status = last === undefined ? 'absent' : last.fault === undefined ? 'verified' : 'unverifiable';
    return { status, signatures: this.#verdicts };
  }
}

/** Formats the result in one line, with the key or the faults. */
export function verificationText({ status, signatures }: CardVerification): string {
  const nameKey = ({ kid, alg }: SignatureVerdict) => [kid, alg].filter((name) => name !== undefined).join(', ');
  const last = signatures.at(-1);
  if (status === 'verified' && last !== undefined) return `verified (${nameKey(last)})`;
  const reasons = signatures.map((verdict) => [nameKey(verdict), verdict.fault].filter(Boolean).join(': '));
  return [status, ...reasons].join('; ');
}

/**
 * Makes the options for signatures from the settings, and reads the keys.
 * @throws CliError A2ACLI_ERR_USAGE, A2ACLI_ERR_UNREACHABLE
 */
export async function cardSignatures(settings: Settings, send: Fetch = fetch): Promise<CardSignatures> {
  const keys = await Promise.all(settings.list('card-key').map((place) => keysAt(place, send)));
  return new CardSignatures({ keys: keys.flat(), jwksOrigins: settings.list('card-key-origin') });
}

async function keysAt(place: string, send: Fetch): Promise<readonly PublicJwk[]> {
  const url = URL.parse(place);
  if (url?.protocol === 'http:')
    throw usageError(`--card-key: ${place} is not https, so its content cannot be trusted`);
  const text = url?.protocol === 'https:' ? await fetchText(url.href, send) : fileText(place);
  const value = parseJson(text);
  const keys = isObject(value) && Array.isArray(value.keys) ? (value.keys as unknown[]) : [value];
  if (keys.length > 0 && keys.every((key): key is PublicJwk => isObject(key) && typeof key.kty === 'string'))
    return keys;
  throw usageError(`--card-key: ${place} is neither a JSON Web Key nor a key set`);
}

function fileText(place: string): string {
  try {
    return readFileSync(place.startsWith('file:') ? fileURLToPath(place) : place, 'utf8');
  } catch {
    throw usageError(`--card-key: ${place} cannot be read`);
  }
}

async function fetchText(url: string, send: Fetch): Promise<string> {
  try {
    const response = await send(url, { redirect: 'error', signal: AbortSignal.timeout(10_000) });
    if (response.ok) return await response.text();
    throw new Error(`the server answered ${response.status}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('A2ACLI_ERR_UNREACHABLE', `--card-key: ${url} cannot be fetched: ${reason}`, { cause });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
