/** Time that drawing rows may take of one frame (ms): half of it, since the browser has to lay out and paint them. */
const budget = 8;

/** Runs a piece of work at the next frame or when there is time, once for all who ask, and learns how long it takes. */
export class Pace {
  readonly #run: (isIdle: boolean) => void;
  #frame: number | undefined;
  #idle: (() => void) | undefined;
  /** Of one pixel of height (ms); at first a guess. */
  #cost = 0.02;

  constructor(run: (isIdle: boolean) => void) {
    this.#run = run;
  }

  /** So much height (px) can be drawn in one frame. */
  get height(): number {
    return budget / this.#cost;
  }

  /** Draws so much height (px), and takes the time. */
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

/** A page that is never idle gets on nevertheless (ms). */
const patience = 300;

/** Gives what calls it off. Safari knows no idle time. */
function onceIdle(run: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(run, 50);
    return () => clearTimeout(timer);
  }
  const id = requestIdleCallback(run, { timeout: patience });
  return () => cancelIdleCallback(id);
}
