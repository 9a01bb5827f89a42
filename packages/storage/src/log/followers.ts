import type { StreamEvent } from '@liminal/protocol';
import { isTerminal } from '@liminal/protocol';
import type { FollowOptions } from '../event-log.ts';

/** The state of a run. If the state is `closed`, the log refuses further appends to the run. */
type FollowState = 'unknown' | 'open' | 'closed';

/** The driver's functions that following a run needs. The functions return promises if the driver must ask a server. */
export interface FollowSource {
  /**
   * Returns a limited page of a run's events after a `seq`; a settled run also has a page while its events exist. Once
   * `isWanted` returns false, the result is not used.
   */
  page(
    runId: string,
    after: number,
    isWanted: () => boolean,
  ): StreamEvent[] | Promise<StreamEvent[]>;
  stateOf(runId: string, isWanted: () => boolean): FollowState | Promise<FollowState>;
  /** Whether the run is settled, so that following cannot begin. */
  isSettled(runId: string, isWanted: () => boolean): boolean | Promise<boolean>;
  /** Called when the run's last follower has left. */
  unfollowed(runId: string): void;
}

/**
 * The followers of each run. A follower is only notified that there are new events. The follower reads these events
 * from the log page by page, so that even a slow follower has only one page in memory.
 */
export class Followers {
  readonly #source: FollowSource;
  readonly #byRun = new Map<string, Set<Follower>>();

  constructor(source: FollowSource) {
    this.#source = source;
  }

  async *follow(runId: string, options: FollowOptions = {}): AsyncGenerator<StreamEvent, void> {
    const follower = new Follower();
    const isWanted = () => follower.active && !options.signal?.aborted;
    if (!isWanted() || (await this.#source.isSettled(runId, isWanted)) || !isWanted()) return;
    const leave = () => this.#leave(runId, follower);
    this.#join(runId, follower);
    options.signal?.addEventListener('abort', leave, { once: true });
    let last = options.after ?? -1;
    try {
      // A single loop reads and yields: passing each event through a second generator would cost more than reading
      // the event.
      while (follower.active) {
        // Request the notification first, so that it also reports events that are appended during the next two calls.
        // Read the state before the page, so that the page contains all events up to that state.
        const notified = follower.nextNotification();
        const stateNow = this.#source.stateOf(runId, isWanted);
        const state = typeof stateNow === 'string' ? stateNow : await stateNow;
        const given = this.#source.page(runId, last, isWanted);
        const page = Array.isArray(given) ? given : await given;
        for (const event of page) {
          last = event.seq;
          yield event;
          if (!follower.active || isTerminal(event)) return;
        }
        // More events may have been appended while this page was yielded, so read again.
        if (page.length > 0) continue;
        if (state === 'closed') return;
        await notified;
      }
    } finally {
      options.signal?.removeEventListener('abort', leave);
      leave();
    }
  }

  /** Notifies the run's followers of new events or of its end. */
  notify(runId: string): void {
    for (const follower of this.#byRun.get(runId) ?? []) follower.notify();
  }

  follows(runId: string): boolean {
    return this.#byRun.has(runId);
  }

  close(): void {
    for (const [runId, followers] of this.#byRun) {
      for (const follower of followers) this.#leave(runId, follower);
    }
  }

  #join(runId: string, follower: Follower): void {
    const followers = this.#byRun.get(runId) ?? new Set();
    this.#byRun.set(runId, followers.add(follower));
  }

  #leave(runId: string, follower: Follower): void {
    if (!follower.active) return;
    follower.stop();
    const followers = this.#byRun.get(runId);
    followers?.delete(follower);
    if (followers?.size !== 0) return;
    this.#byRun.delete(runId);
    this.#source.unfollowed(runId);
  }
}

class Follower {
  active = true;
  #wake: () => void = () => {};

  /** Resolves at the next notification. */
  nextNotification(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }

  notify(): void {
    this.#wake();
  }

  stop(): void {
    this.active = false;
    this.#wake();
  }
}
