/** Time that drawing rows may take of one frame (ms): half of it, since the browser has to lay out and paint them. */
const budget = 8;
const mostAtOnce = 24;

/** Runs a piece of work at the next frame or when there is time, once for all who ask, and learns how long rows take. */
export class Pace {
  readonly #run: (isIdle: boolean) => void;
  #frame: number | undefined;
  #idle: (() => void) | undefined;
  /** Of one row (ms); at first a guess. */
  #cost = 2;

  constructor(run: (isIdle: boolean) => void) {
    this.#run = run;
  }

  /** So many rows fit into one frame. */
  get step(): number {
    return Math.max(1, Math.min(mostAtOnce, Math.floor(budget / this.#cost)));
  }

  /** Draws so many rows, and takes the time. */
  time(rows: number, draw: () => void): void {
    const start = performance.now();
    draw();
    if (rows === 0) return;
    const took = (performance.now() - start) / rows;
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
