import type { Digester } from './digester.js';

const BLOCK = 64;

/** The first 32 bits of the fractional parts of roots of primes: square roots for H, cube roots for K (FIPS 180-4). */
const [H, K] = constants();

/** SHA-256 for hosts that can only hash whole texts (FIPS 180-4 §6.2). */
export class PortableDigester implements Digester {
  readonly #state = Int32Array.from(H);
  readonly #schedule = new Int32Array(64);
  readonly #block = new Uint8Array(BLOCK);
  #filled = 0;
  #bytes = 0;

  update(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const taken = Math.min(BLOCK - this.#filled, bytes.length - at);
      this.#block.set(bytes.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === BLOCK) this.#compress();
    }
  }

  digest(): string {
    const bits = this.#bytes * 8;
    const zeros = (BLOCK * 2 - 9 - this.#filled) % BLOCK;
    const tail = new Uint8Array(zeros + 9);
    tail[0] = 0x80;
    const view = new DataView(tail.buffer);
    view.setUint32(tail.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(tail.length - 4, bits >>> 0);
    this.update(tail);
    const digest = new Uint8Array(32);
    const words = new DataView(digest.buffer);
    this.#state.forEach((word, index) => {
      words.setInt32(index * 4, word);
    });
    return btoa(String.fromCharCode(...digest));
  }

  #compress(): void {
    const [state, w] = [this.#state, this.#schedule];
    const view = new DataView(this.#block.buffer);
    for (let t = 0; t < 64; t++) {
      if (t < 16) w[t] = view.getInt32(t * 4);
      else {
        const [early, late] = [at(w, t - 15), at(w, t - 2)];
        const low = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
        const high = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
        w[t] = at(w, t - 16) + low + at(w, t - 7) + high;
      }
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let t = 0; t < 64; t++) {
      const one =
        (h +
          (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) +
          ((e & f) ^ (~e & g)) +
          at(K, t) +
          at(w, t)) |
        0;
      const two = ((rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      state[index] = at(state, index) + word;
    });
    this.#filled = 0;
  }
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

function constants(): readonly [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  const bits = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => bits(Math.sqrt(prime))),
    Int32Array.from(primes, (prime) => bits(Math.cbrt(prime))),
  ];
}
