import { HashIndex, NONE } from './hash-index.js';
import type { MemorySpace } from './memory-space.js';

/** The turn of the message, or the direct reply as JSON; `undefined` while the key is reserved. */
type KeptOutcome = { readonly taskId: string; readonly turn: number } | string | undefined;

/** The stored properties of a key. */
export interface KeptKey {
  readonly key: string;
  readonly digest: string;
  readonly outcome: KeptOutcome;
  /** By the storage's clock, in ms. */
  readonly expiresAt: number;
}

/** Keys in order of insertion, and their approximate bytes. */
export interface KeyList {
  readonly size: number;
  readonly bytes: number;
  /** The slot of the oldest key, or `NONE`. */
  readonly first: number;
}

/** The texts of a key. The last one is the id of its task, or its reply. */
type Texts = readonly [key: string, digest: string, outcome: string];

/** Bytes of a slot for the texts of a key. Fits the id of a message, the id of a task, and a hash. */
const TEXT_BYTES = 160;
const WORDS = 16;
/** Bytes of a key in memory with its place in the index, without overflow texts. */
const KEY_BYTES = TEXT_BYTES + 4 * WORDS + 24;
const PAGE_SLOTS = 256;

/** The words of a slot. A time needs two words. A link needs two words: the older and the newer neighbour. */
const TIME = 0;
const HASH = 2;
const TURN = 3;
const LENGTHS = 4;
const IN_ALL = 5;
const IN_OWNER = 7;

/** The turn of a key with a direct reply. */
const REPLY = -1;
const RESERVED = -2;
/** The lengths of texts that are stored outside of their slot. */
const BESIDE = -1;
const MOST_LATIN1 = 0xff;

/**
 * Keys in order of insertion, and the keys of each owner. Slots are arrays of numbers instead of objects, because the
 * garbage collector would visit an object for each message. Texts that are long or not Latin-1 are stored outside of
 * the slots.
 */
export class PackedKeys {
  readonly #index = new HashIndex();
  readonly #all = new LinkedSlots();
  readonly #owners = new Map<string | null, OwnedSlots>();
  readonly #spaces: (MemorySpace | undefined)[] = [];
  /** The lists of the owners, by slot. */
  readonly #owned: (OwnedSlots | undefined)[] = [];
  readonly #beside = new Map<number, Texts>();
  #pages: Uint8Array[] = [];
  /** The numbers of all slots. `#times` is a view of the same memory. */
  #words = new Int32Array(0);
  #times = new Float64Array(0);
  /** The first free slot. Free slots are linked. */
  #free = NONE;

  get all(): KeyList {
    return this.#all;
  }

  /** The keys of the owner of a key, over all agents and tenants. */
  ownedWith(slot: number): KeyList {
    return this.#owned[slot] as OwnedSlots;
  }

  /** Returns the slot of the next newer key, or `NONE`. */
  after(slot: number): number {
    return this.#words[slot * WORDS + IN_ALL + 1] as number;
  }

  /** Returns the slot of a key, or `NONE`. */
  find(space: MemorySpace, key: string, hash: number): number {
    for (let place = this.#index.first(hash); place !== NONE; place = this.#index.next(place)) {
      const slot = this.#index.slotAt(place);
      if (this.#spaces[slot] === space && this.#hasKey(slot, key)) return slot;
    }
    return NONE;
  }

  /** Adds a new key as the newest. Returns its slot. */
  add(space: MemorySpace, { key, digest, outcome, expiresAt }: KeptKey, hash: number): number {
    if (this.#free === NONE) this.#addPage();
    const words = this.#words;
    const slot = this.#free;
    const at = slot * WORDS;
    this.#free = words[at + IN_ALL + 1] as number;
    this.#spaces[slot] = space;
    this.#times[at / 2 + TIME] = expiresAt;
    words[at + HASH] = hash;
    words[at + TURN] = outcome === undefined ? RESERVED : typeof outcome === 'string' ? REPLY : outcome.turn;
    words[at + LENGTHS] = this.#write(slot, [key, digest, textOf(outcome)]);
    this.#index.add(hash, slot);
    const bytes = this.bytesOf(slot);
    this.#all.append(words, IN_ALL, slot, bytes);
    const owned = this.#ofOwner(space.scope.owner);
    owned.append(words, IN_OWNER, slot, bytes);
    this.#owned[slot] = owned;
    return slot;
  }

  remove(slot: number): void {
    const words = this.#words;
    const at = slot * WORDS;
    const owned = this.#owned[slot] as OwnedSlots;
    const bytes = this.bytesOf(slot);
    this.#index.remove(words[at + HASH] as number, slot);
    this.#all.remove(words, IN_ALL, slot, bytes);
    owned.remove(words, IN_OWNER, slot, bytes);
    if (owned.size === 0) this.#owners.delete(owned.owner);
    this.#spaces[slot] = undefined;
    this.#owned[slot] = undefined;
    if (words[at + LENGTHS] === BESIDE) this.#beside.delete(slot);
    words[at + IN_ALL + 1] = this.#free;
    this.#free = slot;
    if (this.#all.size === 0 && this.#pages.length > 1) this.#giveBack();
  }

  spaceOf(slot: number): MemorySpace {
    return this.#spaces[slot] as MemorySpace;
  }

  expiryOf(slot: number): number {
    return this.#times[(slot * WORDS) / 2 + TIME] as number;
  }

  /** Approximate bytes of a key. */
  bytesOf(slot: number): number {
    if (this.#words[slot * WORDS + LENGTHS] !== BESIDE) return KEY_BYTES;
    return this.#texts(slot).reduce((bytes, { length }) => bytes + 2 * length, KEY_BYTES);
  }

  read(slot: number): KeptKey {
    const [key, digest, text] = this.#texts(slot);
    const turn = this.#words[slot * WORDS + TURN] as number;
    const outcome = turn === RESERVED ? undefined : turn === REPLY ? text : { taskId: text, turn };
    return { key, digest, outcome, expiresAt: this.expiryOf(slot) };
  }

  #ofOwner(owner: string | null): OwnedSlots {
    let owned = this.#owners.get(owner);
    if (owned === undefined) {
      owned = new OwnedSlots(owner);
      this.#owners.set(owner, owned);
    }
    return owned;
  }

  #hasKey(slot: number, key: string): boolean {
    const lengths = this.#words[slot * WORDS + LENGTHS] as number;
    if (lengths === BESIDE) return this.#texts(slot)[0] === key;
    if ((lengths & 0xff) !== key.length) return false;
    const page = this.#pageOf(slot);
    const start = startOf(slot);
    for (let at = 0; at < key.length; at += 1) if (page[start + at] !== key.charCodeAt(at)) return false;
    return true;
  }

  /** Writes the texts of a slot. Returns their lengths, or `BESIDE`. */
  #write(slot: number, texts: Texts): number {
    const page = this.#pageOf(slot);
    const [key, digest, outcome] = texts;
    const start = startOf(slot);
    const fits =
      key.length + digest.length + outcome.length <= TEXT_BYTES &&
      hasWritten(page, start, key) &&
      hasWritten(page, start + key.length, digest) &&
      hasWritten(page, start + key.length + digest.length, outcome);
    if (fits) return key.length | (digest.length << 8) | (outcome.length << 16);
    this.#beside.set(slot, texts);
    return BESIDE;
  }

  #texts(slot: number): Texts {
    const beside = this.#beside.get(slot);
    if (beside !== undefined) return beside;
    const page = this.#pageOf(slot);
    const lengths = this.#words[slot * WORDS + LENGTHS] as number;
    let start = startOf(slot);
    const next = (length: number) => {
      start += length;
      return String.fromCharCode(...page.subarray(start - length, start));
    };
    return [next(lengths & 0xff), next((lengths >> 8) & 0xff), next((lengths >> 16) & 0xff)];
  }

  #pageOf(slot: number): Uint8Array {
    return this.#pages[Math.trunc(slot / PAGE_SLOTS)] as Uint8Array;
  }

  #addPage(): void {
    const from = this.#spaces.length;
    const slots = from + PAGE_SLOTS;
    this.#pages.push(new Uint8Array(PAGE_SLOTS * TEXT_BYTES));
    if (slots * WORDS > this.#words.length) this.#useWords(Math.max(slots, 2 * from), this.#words);
    for (let slot = from; slot < slots; slot += 1) {
      this.#spaces.push(undefined);
      this.#owned.push(undefined);
      this.#words[slot * WORDS + IN_ALL + 1] = slot + 1 < slots ? slot + 1 : NONE;
    }
    this.#free = from;
  }

  #useWords(slots: number, old: Int32Array): void {
    this.#words = new Int32Array(slots * WORDS);
    this.#words.set(old);
    this.#times = new Float64Array(this.#words.buffer);
  }

  /** Frees the memory after the last of many keys was removed. */
  #giveBack(): void {
    this.#index.clear();
    this.#spaces.length = 0;
    this.#owned.length = 0;
    this.#pages = [];
    this.#useWords(0, new Int32Array(0));
    this.#free = NONE;
  }
}

/** A list whose links are words of its slots. */
class LinkedSlots implements KeyList {
  first = NONE;
  size = 0;
  bytes = 0;
  #last = NONE;

  append(words: Int32Array, link: number, slot: number, bytes: number): void {
    words[slot * WORDS + link] = this.#last;
    words[slot * WORDS + link + 1] = NONE;
    if (this.#last === NONE) this.first = slot;
    else words[this.#last * WORDS + link + 1] = slot;
    this.#last = slot;
    this.size += 1;
    this.bytes += bytes;
  }

  remove(words: Int32Array, link: number, slot: number, bytes: number): void {
    const older = words[slot * WORDS + link] as number;
    const newer = words[slot * WORDS + link + 1] as number;
    if (older === NONE) this.first = newer;
    else words[older * WORDS + link + 1] = newer;
    if (newer === NONE) this.#last = older;
    else words[newer * WORDS + link] = older;
    this.size -= 1;
    this.bytes -= bytes;
  }
}

/** The slots of one owner. */
class OwnedSlots extends LinkedSlots {
  readonly owner: string | null;

  constructor(owner: string | null) {
    super();
    this.owner = owner;
  }
}

function textOf(outcome: KeptOutcome): string {
  return typeof outcome === 'object' ? outcome.taskId : (outcome ?? '');
}

/** Returns the offset of a slot in its page. */
function startOf(slot: number): number {
  return (slot % PAGE_SLOTS) * TEXT_BYTES;
}

/** Writes a text as Latin-1. False if it has other characters. */
function hasWritten(page: Uint8Array, start: number, text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > MOST_LATIN1) return false;
    page[start + at] = code;
  }
  return true;
}
