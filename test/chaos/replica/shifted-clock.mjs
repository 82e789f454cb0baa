// Shifts the wall clock of a process by CLOCK_SHIFT_MS. Monotonic time and timers stay as they are. Use with --import.
const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + shift] : args));
  }

  static now() {
    return RealDate.now() + shift;
  }
};
