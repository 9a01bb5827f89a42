/** Time per frame for drawing rows (ms): half a frame, since the browser must lay them out and paint them. */
const budget = 8;

/** Runs work at the next frame or when idle, once for all callers, and measures how long it takes. */
export class Pace {
  readonly #run: (isIdle: boolean) => void;
  #frame: number | undefined;
  #idle: (() => void) | undefined;
  /** Cost of one pixel of height (ms); a guess at first. */
  #cost = 0.02;

  constructor(run: (isIdle: boolean) => void) {
    this.#run = run;
  }

  /** Height (px) that can be drawn in one frame. */
  get height(): number {
    return budget / this.#cost;
  }

  /** Draws this much height (px), and measures the time. */
  time(height: number, draw: () => void): void {
    const start = performance.now();
    draw();
    if (height === 0) return;
    const took = (performance.now() - start) / height;
    this.#cost = took > this.#cost ? took : (this.#cost * 3 + took) / 4;
  }

  nextFrame(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#run(false);
    });
  }

  whenIdle(): void {
    this.#idle ??= onceIdle(() => {
      this.#idle = undefined;
      this.#run(true);
    });
  }

  end(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#idle?.();
    this.#frame = undefined;
    this.#idle = undefined;
  }
}

/** Limit for waiting until the page is idle (ms). */
const patience = 300;

/** Returns a function that cancels it. Safari has no idle callback. */
function onceIdle(run: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(run, 50);
    return () => clearTimeout(timer);
  }
  const id = requestIdleCallback(run, { timeout: patience });
  return () => cancelIdleCallback(id);
}
