import type { Browser, Page } from 'playwright-core';

/**
 * The state of the page after a frame: the time of the page's clock in ms, and the time in the last delta that the page
 * shows, in µs.
 */
interface Frame {
  at: number;
  time: number;
}

interface Seen {
  frames: Frame[];
  /** The WebSocket with which the app is connected to its server. */
  socket?: WebSocket;
}

declare global {
  interface Window {
    seen: Seen;
  }
}

/** A page of the app. It records which deltas of a turn were painted, and when. */
export class SeenInPage {
  readonly #page: Page;
  /** The difference between the source's clock and the page's, in ms. */
  readonly #offset: number;

  private constructor(page: Page, offset: number) {
    this.#page = page;
    this.#offset = offset;
  }

  static async open(browser: Browser, address: string): Promise<SeenInPage> {
    // The direct path connects to another port, which the app's own policy forbids.
    const context = await browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    await page.addInitScript(watchText);
    await page.goto(address);
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    return new SeenInPage(page, await clockOffset(page));
  }

  /**
   * Connects the page to another server: the app receives this server's messages as if they came from the app's own
   * server. `send` makes the other server send.
   */
  async connect(port: string): Promise<{ send: (text: string) => Promise<void> }> {
    const direct = await this.#page.evaluateHandle(async (address) => {
      const socket = new WebSocket(address);
      await new Promise((resolve) => socket.addEventListener('open', resolve));
      socket.addEventListener('message', ({ data }: MessageEvent<string>) =>
        window.seen.socket?.dispatchEvent(new MessageEvent('message', { data })),
      );
      return socket;
    }, `ws://127.0.0.1:${port}/direct`);
    return { send: async (text) => direct.evaluate((socket, said) => socket.send(said), text) };
  }

  /**
   * Resolves with the time from the source's write of each delta of the next turn until the delta is painted, in ms.
   * `speak` begins the turn.
   */
  async latencies(speak: () => Promise<void>): Promise<number[]> {
    const before = await this.#turns();
    await this.#page.evaluate(() => (window.seen.frames = []));
    await speak();
    await this.#page.waitForFunction(
      (turns) =>
        document.querySelectorAll('[data-turn-id][data-settled="true"] [data-origin="agent"]')
          .length > turns,
      before,
      { polling: 200 },
    );
    const { frames, text } = await this.#page.evaluate(() => ({
      frames: window.seen.frames,
      text: [...document.querySelectorAll('[data-origin="agent"]')].at(-1)?.textContent ?? '',
    }));
    const times = (text.match(/\d{15}/g) ?? []).map(Number);
    return times.map((time) => {
      const frame = frames.find((one) => one.time >= time);
      return (frame?.at ?? Number.NaN) + this.#offset - time / 1000;
    });
  }

  async close(): Promise<void> {
    await this.#page.context().close();
  }

  async #turns(): Promise<number> {
    return this.#page.locator('[data-turn-id][data-settled="true"] [data-origin="agent"]').count();
  }
}

/** Records the painted text. The function runs in the page before the page's own scripts. */
function watchText(): void {
  const seen: Seen = { frames: [] };
  window.seen = seen;
  const Native = WebSocket;
  window.WebSocket = class extends Native {
    constructor(...how: ConstructorParameters<typeof WebSocket>) {
      super(...how);
      if (!String(how[0]).endsWith('/direct')) seen.socket = this;
    }
  };
  let isNew = false;
  new MutationObserver(() => (isNew = true)).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
  });
  const painted = new MessageChannel();
  painted.port1.onmessage = () => {
    if (!isNew) return;
    isNew = false;
    const text = [...document.querySelectorAll('[data-origin="agent"]')].at(-1)?.textContent ?? '';
    const time = Number(/\d{15}(?=\D*$)/.exec(text.slice(-40))?.[0] ?? 0);
    seen.frames.push({ at: performance.now(), time });
  };
  const onFrame = (): void => {
    // The browser handles this message in the first task after it has painted this frame's changes.
    painted.port2.postMessage(0);
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
}

/**
 * Returns the difference between the clocks of the page and of this process. Both clocks are monotonic, but start at
 * different times: the fastest of several answers gives the difference.
 */
async function clockOffset(page: Page): Promise<number> {
  const now = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
  let best = { took: Number.POSITIVE_INFINITY, offset: 0 };
  for (let round = 0; round < 30; round += 1) {
    const before = now();
    const inPage = await page.evaluate(() => performance.now());
    const after = now();
    const took = after - before;
    if (took < best.took) best = { took, offset: (before + after) / 2 - inPage };
  }
  return best.offset;
}
