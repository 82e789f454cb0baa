/** The bounds of the frames of a peer, and of its entries in the tables of a session. */
export interface FrameLimits {
  /** Members of all objects and elements of all arrays in a value. A frame with far more is refused. */
  readonly items: number;
  /** Members of the path of a call. */
  readonly pathLength: number;
  /** Calls and pipes of the peer that it has not released. */
  readonly calls: number;
  /** Local objects that the peer has not released. */
  readonly capabilities: number;
  /** Functions and objects of the peer that are held here. */
  readonly callbacks: number;
  /** Characters of large calls without an answer. Calls up to 64 Ki do not count. */
  readonly runningLength: number;
}

/** The limits that end a session, by the names of their options. `frame` is the longest message. */
export type SessionLimitName =
  | 'authenticateMs'
  | 'bodyMemory'
  | 'callbacks'
  | 'capabilities'
  | 'frame'
  | 'jsonItems'
  | 'outboundBytes'
  | 'runningLength'
  | 'unconsumedBytes'
  | 'unreleasedCalls'
  | 'waitingBytes';

/** The fault of a frame. The connection ends with this code and reason. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault';
  readonly code: number;
  /** The limit that was reached, if it is one. */
  readonly limit: SessionLimitName | undefined;

  constructor(code: number, reason: string, limit?: SessionLimitName) {
    super(reason);
    this.code = code;
    this.limit = limit;
  }
}

/** The code of a connection whose peer breaks the rules of frames or the limits. */
export const POLICY_VIOLATION = 1008;

/** Levels of the values in a frame. The library takes 256 in all, and the deepest value of the model has far fewer. */
const FRAME_LEVELS = 240;
/** Maximum number of stubs and promises in one frame. A call has few. */
const REFERENCES_PER_FRAME = 256;
/** Maximum length of a call that is not counted. */
const LARGE_LENGTH = 65_536;
/** Characters of a member of a path. */
const NAME_LENGTH = 128;
/** The methods of a pipe. */
const PIPE_METHODS: ReadonlySet<unknown> = new Set(['write', 'close', 'abort']);
/** The mark of exports in the text of a frame. User text cannot contain it, because quotes are escaped. */
const EXPORT_SIGN = '["export",';

/** An entry of the peer in the local table: a call, a pipe, or the bytes of a pending write. */
type Entry = 'call' | 'pipe' | number;

/**
 * Checks the frames of a peer against an allow-list before the library gets them, and counts the entries that they
 * create. Unknown messages and expressions are refused. One object serves one connection.
 */
export class FrameCheck {
  readonly #limits: FrameLimits;
  readonly #received = new Map<number, Entry>();
  readonly #exported = new Map<number, number>();
  readonly #imported = new Set<number>();
  /** The lengths of large calls without an answer. */
  readonly #large = new Map<number, number>();
  /** Called when the content of a frame is no longer needed. */
  readonly #releases = new Map<number, () => void>();
  #runningLength = 0;
  #nextId = 1;
  #references = 0;
  #unconsumed = 0;
  #calls = 0;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** Bytes of stream writes that no reader has read. */
  get unconsumed(): number {
    return this.#unconsumed;
  }

  /**
   * Checks a frame of the peer, and counts it. `release` is called once its content is no longer needed.
   * @throws FrameFault
   */
  receive(frame: unknown, bytes: number, release?: () => void): void {
    const id = this.#nextId;
    if (release !== undefined) this.#releases.set(id, release);
    this.#receive(frame, bytes);
    if (release !== undefined && this.#nextId === id) this.#free(id);
  }

  /** Calls all `release` functions that were not called yet. */
  releaseAll(): void {
    for (const id of this.#releases.keys()) this.#free(id);
  }

  #free(id: number): void {
    const release = this.#releases.get(id);
    this.#releases.delete(id);
    release?.();
  }

  #receive(frame: unknown, bytes: number): void {
    if (!Array.isArray(frame)) throw refusal('A frame must be an array');
    this.#references = 0;
    const [type, first, second] = frame as readonly unknown[];
    switch (type) {
      case 'push':
        needLength(frame, 2);
        this.#call(first);
        this.#calls += 1;
        if (this.#calls > this.#limits.calls) throw refusal('Too many calls are not released', 'unreleasedCalls');
        this.#run(bytes);
        this.#add('call');
        return;
      case 'stream':
        needLength(frame, 2);
        this.#write(first);
        this.#add(bytes);
        this.#unconsumed += bytes;
        return;
      case 'pipe':
        needLength(frame, 1);
        this.#calls += 1;
        if (this.#calls > this.#limits.calls) throw refusal('Too many pipes are not released', 'unreleasedCalls');
        this.#add('pipe');
        return;
      case 'pull':
        needLength(frame, 2);
        needId(first);
        return;
      case 'resolve':
      case 'reject':
        needLength(frame, 3);
        needId(first);
        this.#value(second, 1);
        return;
      case 'release':
        needLength(frame, 3);
        this.#release(needId(first), second);
        return;
      case 'abort':
        needLength(frame, 2);
        this.#value(first, 1);
        return;
      default:
        throw refusal('The type of a message is not allowed');
    }
  }

  /**
   * Counts a sent frame. `text` is its JSON.
   * @throws FrameFault if the peer holds too much.
   */
  send(frame: readonly unknown[], text: string): void {
    const [type, id, value] = frame;
    if (type === 'resolve' || type === 'reject') this.#settle(id as number);
    else if (type === 'release') this.#imported.delete(id as number);
    if (!text.includes(EXPORT_SIGN)) return;
    this.#countExports(type === 'push' || type === 'stream' || type === 'abort' ? id : value);
    if (this.#exported.size > this.#limits.capabilities)
      throw refusal('Too many objects are not released', 'capabilities');
  }

  #add(entry: Entry): void {
    this.#received.set(this.#nextId++, entry);
  }

  /** Counts a large call until its answer. */
  #run(length: number): void {
    if (length <= LARGE_LENGTH) return;
    this.#runningLength += length;
    if (this.#runningLength > this.#limits.runningLength)
      throw refusal('Too many large calls are running', 'runningLength');
    this.#large.set(this.#nextId, length);
  }

  #answer(id: number): void {
    if (this.#releases.size > 0) this.#free(id);
    this.#runningLength -= this.#large.get(id) ?? 0;
    this.#large.delete(id);
  }

  /** Removes a write from the table when it is answered. */
  #settle(id: number): void {
    this.#answer(id);
    const entry = this.#received.get(id);
    if (typeof entry !== 'number') return;
    this.#received.delete(id);
    this.#unconsumed -= entry;
  }

  #release(id: number, count: unknown): void {
    if (!isCount(count) || count === 0) throw refusal('A release needs a count');
    const entry = this.#received.get(id);
    if (entry === 'call' || entry === 'pipe') {
      this.#received.delete(id);
      this.#answer(id);
      this.#calls -= 1;
    }
    const left = (this.#exported.get(id) ?? 0) - count;
    if (left > 0) this.#exported.set(id, left);
    else this.#exported.delete(id);
  }

  /** The expression of a push: a call, or the read of a property. */
  #call(expression: unknown): void {
    if (!Array.isArray(expression) || expression[0] !== 'pipeline' || expression.length > 4)
      throw refusal('A push must be a call');
    const [, target, path, args] = expression as readonly unknown[];
    needId(target);
    if (expression.length > 2) this.#path(path);
    if (expression.length > 3) this.#list(args, 1);
  }

  /** The expression of a stream message: a write to a pipe of the peer. */
  #write(expression: unknown): void {
    if (!Array.isArray(expression) || expression[0] !== 'pipeline' || expression.length !== 4)
      throw refusal('A stream message must be a call');
    const [, target, path, args] = expression as readonly unknown[];
    if (this.#received.get(needId(target)) !== 'pipe') throw refusal('A stream message must name a pipe');
    if (!Array.isArray(path) || path.length !== 1 || !PIPE_METHODS.has(path[0]))
      throw refusal('A pipe has no such method');
    this.#list(args, 1);
  }

  #path(path: unknown): void {
    if (!Array.isArray(path) || path.length > this.#limits.pathLength) throw refusal('The path of a call is too long');
    for (const part of path as readonly unknown[]) {
      const isName = typeof part === 'string' && part.length <= NAME_LENGTH;
      if (!isName && !isCount(part)) throw refusal('The path of a call is not valid');
    }
  }

  #list(list: unknown, depth: number): void {
    if (!Array.isArray(list)) throw refusal('Arguments must be an array');
    for (const item of list as readonly unknown[]) this.#value(item, depth);
  }

  #value(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null) return;
    if (depth > FRAME_LEVELS) throw refusal('A value is nested too deeply');
    if (!Array.isArray(value)) {
      for (const name in value) this.#value((value as Record<string, unknown>)[name], depth + 1);
    } else if (value.length === 1 && Array.isArray(value[0])) {
      for (const item of value[0] as readonly unknown[]) this.#value(item, depth + 1);
    } else {
      this.#expression(value, depth);
    }
  }

  #expression(expression: readonly unknown[], depth: number): void {
    const [type, first, second] = expression;
    switch (type) {
      case 'undefined':
        return needLength(expression, 1);
      case 'bytes':
        needLength(expression, 2);
        if (typeof first !== 'string') throw refusal('Bytes must be base64');
        return;
      case 'error':
        return this.#error(expression, depth);
      case 'readable':
        this.#reference(expression, 2);
        return;
      case 'import':
        this.#reference(expression, 2);
        return;
      case 'export':
        this.#imports(this.#reference(expression, 2));
        return;
      case 'pipeline':
        this.#reference(expression, 3);
        // A nested call could be one of millions in a frame. Clients send calls as messages.
        if (expression.length > 2) this.#path(second);
        return;
      default:
        throw refusal('The type of an expression is not allowed');
    }
  }

  #reference(expression: readonly unknown[], longest: number): number {
    this.#references += 1;
    if (this.#references > REFERENCES_PER_FRAME) throw refusal('A frame has too many references');
    if (expression.length > longest) throw refusal('An expression has too many members');
    return needId(expression[1]);
  }

  #imports(id: number): void {
    this.#imported.add(id);
    if (this.#imported.size > this.#limits.callbacks) throw refusal('Too many callbacks', 'callbacks');
  }

  #error(expression: readonly unknown[], depth: number): void {
    const [, name, message, stack, members] = expression;
    if (expression.length > 5 || typeof name !== 'string' || typeof message !== 'string')
      throw refusal('An error is not valid');
    if (stack !== undefined && stack !== null && typeof stack !== 'string') throw refusal('An error is not valid');
    if (members === undefined) return;
    if (typeof members !== 'object' || members === null || Array.isArray(members))
      throw refusal('An error is not valid');
    this.#value(members, depth + 1);
  }

  /** Counts the objects in a sent value, whose form is known, because the library has made it. */
  #countExports(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) {
      for (const name in value) this.#countExports((value as Record<string, unknown>)[name]);
    } else if (value[0] === 'export' && typeof value[1] === 'number') {
      this.#exported.set(value[1], (this.#exported.get(value[1]) ?? 0) + 1);
    } else {
      for (const item of value as readonly unknown[]) this.#countExports(item);
    }
  }
}

/** The fault of a frame with too many members and elements. */
export function tooManyItems(): FrameFault {
  return refusal('A frame has too many members and elements', 'jsonItems');
}

function refusal(reason: string, limit?: SessionLimitName): FrameFault {
  return new FrameFault(POLICY_VIOLATION, reason, limit);
}

function needLength(list: readonly unknown[], length: number): void {
  if (list.length !== length) throw refusal('A frame has members that are not allowed');
}

function needId(id: unknown): number {
  if (!Number.isSafeInteger(id)) throw refusal('The id of an entry must be a number');
  return id as number;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
