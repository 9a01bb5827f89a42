/**
 * The time that each frame may spend on drawing rows, in ms: half a frame, since the browser must lay them out and
 * paint them.
 */
const mostTime = 8;

/** Runs work in the next frame, or when the page is idle, once for all callers. Measures how long the work takes. */
export class FrameScheduler {
  readonly #run: (isIdle: boolean) => void;
  #frame: number | undefined;
  #idle: (() => void) | undefined;
  /** The time for drawing in this run, in ms. */
  #time = mostTime;
  /** The cost of one pixel of height, in ms; a guess at first. */
  #cost = 0.02;

  constructor(run: (isIdle: boolean) => void) {
    this.#run = run;
  }

  /** Returns the height (px) that can be drawn in this run; 0 while the page is busy. */
  get height(): number {
    return this.#time / this.#cost;
  }

  /** Calls `draw`, which draws rows of this height (px), and measures how long that takes. */
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
      this.#time = mostTime;
      this.#run(false);
    });
  }

  /** Runs the work when the page is idle. While the page is busy, runs the work at intervals, without drawing. */
  whenIdle(): void {
    this.#idle ??= onceIdle((isIdle) => {
      this.#idle = undefined;
      this.#time = isIdle ? mostTime : 0;
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

/** The longest wait for an idle page, in ms. */
const patience = 300;

/**
 * Calls `run` when the page is idle, or, after `patience`, while it is busy. `isIdle` tells whether there is time to
 * draw before the next frame. Returns a function that cancels the call. Safari has no idle callback.
 */
function onceIdle(run: (isIdle: boolean) => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(() => run(true), 50);
    return () => clearTimeout(timer);
  }
  const until = performance.now() + patience;
  let id = 0;
  const wait = () => {
    const timeout = Math.max(1, until - performance.now());
    id = requestIdleCallback(
      (deadline) => {
        if (deadline.timeRemaining() >= mostTime) run(true);
        else if (performance.now() >= until) run(false);
        else wait();
      },
      { timeout },
    );
  };
  wait();
  return () => cancelIdleCallback(id);
}
