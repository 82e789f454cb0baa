import { basename } from 'node:path';
import type { Output } from './output.js';

const EVERY_MS = 100;

/** Shows the progress of a file transfer on a terminal. */
export class TransferProgress {
  readonly #output: Output;
  readonly #name: string;
  readonly #began = performance.now();
  #shownAt = Number.NEGATIVE_INFINITY;
  #first: number | undefined;

  constructor(output: Output, path: string) {
    this.#output = output;
    this.#name = basename(path);
  }

  readonly show = ({ bytes, total }: { readonly bytes: number; readonly total: number | undefined }): void => {
    this.#first ??= bytes;
    const now = performance.now();
    if (!this.#output.watched || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    const seconds = (now - this.#began) / 1000;
    const speed = seconds < 0.5 ? '' : `, ${formatBytes((bytes - this.#first) / seconds)}/s`;
    const whole = total === undefined ? formatBytes(bytes) : `${formatBytes(bytes)} of ${formatBytes(total)}`;
    this.#output.progress(`${this.#name}: ${whole}${speed}`);
  };
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes. */
export function formatBytes(bytes: number): string {
  let number = bytes;
  let unit = 0;
  for (; number >= 1000 && unit < UNITS.length - 1; unit++) number /= 1000;
  return unit === 0 ? `${Math.round(number)} bytes` : `${number.toFixed(1)} ${UNITS[unit]}`;
}
