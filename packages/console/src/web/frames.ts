/** Maximum wait for a frame, in ms. Hidden pages have no frames. */
const HIDDEN_MS = 500;

/** A function that runs at most once per frame. */
interface FrameTask {
  /** Runs it before the next frame. */
  soon(): void;
  /** Runs it at once, in the place of the next run. */
  now(): void;
}

/** Runs a function once per frame, for all changes before it. */
export function eachFrame(run: () => void): FrameTask {
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const clear = (): void => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = undefined;
    timer = undefined;
  };
  const now = (): void => {
    clear();
    run();
  };
  return {
    now,
    soon: () => {
      if (frame !== undefined || timer !== undefined) return;
      if (document.hidden) timer = setTimeout(now, HIDDEN_MS);
      else {
        frame = requestAnimationFrame(now);
        timer = setTimeout(now, HIDDEN_MS);
      }
    },
  };
}
