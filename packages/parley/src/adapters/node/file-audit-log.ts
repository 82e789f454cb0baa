import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import type { Clock } from '../../runtime/clock.js';
import type { AuditLog, AuditPage, AuditRange, AuditRecord } from '../../telemetry/audit-log.js';
import { printableText } from '../../telemetry/printable-text.js';
import { readAuditFile } from './read-audit-file.js';

/** The options of an audit file. */
export interface FileAuditLogOptions {
  /** The file. Made if it is missing. */
  readonly path: string;
  /** True if callers get an answer only after its record is on the disk. Default: false. */
  readonly required?: boolean;
  /**
   * Size in bytes at which the file is renamed to `‹path›.‹time›`, and a new one begins. Renamed files are never
   * deleted. Default: never, as for logrotate.
   */
  readonly rotateBytes?: number;
  /**
   * Maximum bytes of records that wait to be written. Further records are lost, or refused if required. Default: 8 MiB.
   */
  readonly waitingBytes?: number;
  /** True if SIGHUP opens the file again, as logrotate needs. Default: false. */
  readonly reopenAtSighup?: boolean;
  readonly clock: Clock;
}

const WAITING_BYTES = 8 * 1024 * 1024;
/** Only the user of the operating system that runs the server may read the records. */
const MODE = 0o600;

interface Waiting {
  readonly line: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface AuditFile {
  readonly handle: FileHandle;
  /** In bytes. */
  size: number;
}

/**
 * An audit log in a file with one JSON object per line. Records that arrive during a write share the next one. A write
 * that fails loses its records; the next one opens the file again. So does a write to a file that was deleted.
 */
export class FileAuditLog implements AuditLog {
  readonly required: boolean;
  readonly #options: FileAuditLogOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #file: AuditFile | undefined;
  /** True if the file may end within a line: the next write then begins with a line break. */
  #isTorn = false;
  #isClosed = false;

  constructor(options: FileAuditLogOptions) {
    this.#options = options;
    this.required = options.required ?? false;
    if (options.reopenAtSighup === true) process.on('SIGHUP', this.#atSighup);
  }

  /** Opens the file, and creates it and its folder if they are missing. Rejects if that fails. */
  async open(): Promise<void> {
    this.#file ??= await this.#openFile();
  }

  write(record: AuditRecord): Promise<void> {
    const line = `${printableText(JSON.stringify(record))}\n`;
    const bytes = Buffer.byteLength(line);
    const { waitingBytes = WAITING_BYTES, path } = this.#options;
    if (this.#isClosed) return Promise.reject(new Error(`The audit log ${path} is closed`));
    if (this.#waitingBytes + bytes > waitingBytes) {
      return Promise.reject(new Error(`The audit log ${path} is slower than the calls: ${waitingBytes} bytes wait`));
    }
    this.#waitingBytes += bytes;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ line, bytes, resolve, reject });
    this.#writing ??= this.#writeAll();
    return promise;
  }

  /** Reads the file and those that it was renamed to. Compressed ones are left out. */
  async read(range: AuditRange): Promise<AuditPage | undefined> {
    await this.#writing;
    return readAuditFile(this.#options.path, range);
  }

  /** Opens the path again, after another program has renamed the old file. */
  async reopen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ line: '', bytes: 0, resolve, reject });
    this.#writing ??= this.#writeAll();
    return promise;
  }

  /** Writes the waiting records, and closes the file. Later records are lost. */
  close(): Promise<void> {
    return this.#options.clock.hold(this.#close());
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    process.off('SIGHUP', this.#atSighup);
    await this.#writing;
    await this.#file?.handle.close();
    this.#file = undefined;
  }

  readonly #atSighup = () => void this.reopen().catch(() => {});

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const bytes = batch.reduce((sum, one) => sum + one.bytes, 0);
      try {
        await this.#writeBatch(batch.map(({ line }) => line));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#isTorn = true;
        await this.#letGo();
        for (const { reject } of batch) reject(error);
      }
      this.#waitingBytes -= bytes;
    }
    // No `await` may follow the last check of the loop, so that a later record starts a new round.
    this.#writing = undefined;
  }

  async #writeBatch(lines: readonly string[]): Promise<void> {
    if (lines.includes('')) await this.#letGo();
    const text = lines.join('');
    this.#file ??= await this.#openFile();
    const { rotateBytes } = this.#options;
    if (rotateBytes !== undefined && this.#file.size > 0 && this.#file.size + text.length > rotateBytes) {
      await this.#letGo();
      await this.#rotate();
      this.#file = await this.#openFile();
    }
    if (text === '') return;
    await this.#append(this.#file, text);
    const { nlink } = await this.#file.handle.stat();
    if (nlink > 0) return;
    // Another program deleted the file, and its records with it.
    await this.#letGo();
    this.#file = await this.#openFile();
    await this.#append(this.#file, text);
  }

  async #append(file: AuditFile, text: string): Promise<void> {
    const whole = this.#isTorn && file.size > 0 ? `\n${text}` : text;
    await file.handle.appendFile(whole);
    this.#isTorn = false;
    if (this.required) await file.handle.datasync();
    file.size += Buffer.byteLength(whole);
  }

  async #openFile(): Promise<AuditFile> {
    const { path } = this.#options;
    await mkdir(dirname(path), { recursive: true });
    const handle = await open(path, 'a+', MODE);
    const { size } = await handle.stat();
    if (size > 0) {
      // A process that was killed may have written half of a line.
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
      this.#isTorn ||= buffer[0] !== 0x0a;
    }
    return { handle, size };
  }

  async #letGo(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(() => {});
  }

  /** The name is unique, so that a second rotation within a millisecond replaces no file. */
  async #rotate(): Promise<void> {
    const { path, clock } = this.#options;
    const time = new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');
    for (let number = 0; ; number += 1) {
      const target = number === 0 ? `${path}.${time}` : `${path}.${time}-${number}`;
      const exists = await open(target, 'r').then(
        (handle) => handle.close().then(() => true),
        () => false,
      );
      if (!exists) return rename(path, target);
    }
  }
}
