import { fileTooLarge, quotaReached } from './file-errors.js';
import { type FileLimits, type FileOwner, fileOwnerText, type NewFile, quotaBytes } from './file-store.js';

/** The bytes of one owner. */
interface OwnerAccount {
  /** Bytes of stored files, and of files that are being received. */
  bytes: number;
  /** Loads `bytes` once. */
  readonly loaded: Promise<void>;
  /** Number of running stores and deletes. */
  uses: number;
}

/** Maximum number of idle owners whose sums are cached. */
const KEPT_OWNERS = 10_000;

/**
 * The quotas of owners in one process. Bytes are reserved before they are stored, atomically with the check, so
 * concurrent files cannot exceed the limit together.
 */
export class OwnerQuotas {
  readonly #stored: (owner: FileOwner) => Promise<number>;
  readonly #keepsIdle: boolean;
  readonly #accounts = new Map<string, OwnerAccount>();

  /**
   * `stored` sums the counted bytes of an owner. It is called once per cached owner. A store of several processes
   * caches no idle owners, because other processes change their sums, and it calls `stored` again after each write.
   */
  constructor(
    stored: (owner: FileOwner) => Promise<number>,
    { keepsIdle = true }: { readonly keepsIdle?: boolean } = {},
  ) {
    this.#stored = stored;
    this.#keepsIdle = keepsIdle;
  }

  /**
   * Reserves room for a file.
   * @throws A2AError PAYLOAD_TOO_LARGE or RESOURCE_EXHAUSTED if its declared size has no room.
   */
  async reserve(owner: FileOwner, { size }: Pick<NewFile, 'size'>, limits: FileLimits): Promise<QuotaReservation> {
    if (size !== undefined && size > limits.maxBytes) throw fileTooLarge(limits.maxBytes);
    const account = this.#account(owner);
    account.uses += 1;
    try {
      await account.loaded;
    } catch (error) {
      account.uses -= 1;
      throw error;
    }
    const reservation = new QuotaReservation(account, limits);
    reservation.cover(size ?? 0);
    return reservation;
  }

  /**
   * Deletes a stored file, and subtracts it from the quota. `remove` resolves to false if the file was deleted before.
   */
  async remove(owner: FileOwner, size: number, remove: () => Promise<boolean>): Promise<boolean> {
    const account = this.#account(owner);
    account.uses += 1;
    try {
      await account.loaded;
      const isRemoved = await remove();
      if (isRemoved) account.bytes -= quotaBytes(size);
      return isRemoved;
    } finally {
      account.uses -= 1;
    }
  }

  #account(owner: FileOwner): OwnerAccount {
    const key = fileOwnerText(owner);
    const known = this.#accounts.get(key);
    if (known !== undefined && (this.#keepsIdle || known.uses > 0)) return known;
    if (this.#accounts.size >= KEPT_OWNERS) this.#forgetIdle();
    const account: OwnerAccount = {
      bytes: 0,
      uses: 0,
      loaded: this.#stored(owner).then(
        (bytes) => {
          account.bytes += bytes;
        },
        (error: unknown) => {
          this.#accounts.delete(key);
          throw error;
        },
      ),
    };
    this.#accounts.set(key, account);
    return account;
  }

  #forgetIdle(): void {
    for (const [key, { uses }] of this.#accounts) if (uses === 0) this.#accounts.delete(key);
  }
}

/** The reserved quota of one file. It ends with `stored` or with `release`. */
export class QuotaReservation {
  readonly #account: OwnerAccount;
  readonly #limits: FileLimits;
  #reserved = 0;
  #isOver = false;

  constructor(account: OwnerAccount, limits: FileLimits) {
    this.#account = account;
    this.#limits = limits;
  }

  /**
   * Extends the reservation to a total of `size` bytes. An error releases it.
   * @throws A2AError PAYLOAD_TOO_LARGE or RESOURCE_EXHAUSTED.
   */
  cover(size: number): void {
    const { maxBytes, ownerBytes } = this.#limits;
    const more = Math.max(quotaBytes(size) - this.#reserved, 0);
    if (size <= maxBytes && this.#account.bytes + more <= ownerBytes) {
      this.#account.bytes += more;
      this.#reserved += more;
      return;
    }
    this.release();
    throw size > maxBytes ? fileTooLarge(maxBytes) : quotaReached(ownerBytes);
  }

  /** Turns the reservation into the quota of a stored file. */
  stored(size: number): void {
    this.#end(quotaBytes(size) - this.#reserved);
  }

  /** Releases the reservation: the file is not stored. */
  release(): void {
    this.#end(-this.#reserved);
  }

  #end(change: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#account.bytes += change;
    this.#account.uses -= 1;
  }
}
