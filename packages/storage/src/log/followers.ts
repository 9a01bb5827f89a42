import type { StreamEvent } from '@liminal/protocol';
import { isTerminal } from '@liminal/protocol';
import type { FollowOptions } from '../event-log.ts';

/** `closed` means that nothing can be appended any more. */
type FollowState = 'unknown' | 'open' | 'closed';

/** What following needs of a driver; one that has to ask a server for it gives promises. */
export interface FollowSource {
  /**
   * A bounded page of a run's events after a `seq`; of a settled run too, while its events are there. Nobody wants it
   * any more once `isWanted` says so.
   */
  page(
    runId: string,
    after: number,
    isWanted: () => boolean,
  ): StreamEvent[] | Promise<StreamEvent[]>;
  stateOf(runId: string, isWanted: () => boolean): FollowState | Promise<FollowState>;
  /** Whether whoever begins to follow now is too late. */
  isSettled(runId: string, isWanted: () => boolean): boolean | Promise<boolean>;
  /** The last follower of the run has gone. */
  unfollowed(runId: string): void;
}

/**
 * Who follows which run. A follower is only told that there is news, and reads it from the log page by page: however
 * slow it is, it holds one page.
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
      // One loop for all of it: handing each event from one generator to another would take longer than reading it.
      while (follower.active) {
        // What comes while these two are asked is news; and what a state says has happened, the later page holds.
        const news = follower.news();
        const told = this.#source.stateOf(runId, isWanted);
        const state = typeof told === 'string' ? told : await told;
        const given = this.#source.page(runId, last, isWanted);
        const page = Array.isArray(given) ? given : await given;
        for (const event of page) {
          last = event.seq;
          yield event;
          if (!follower.active || isTerminal(event)) return;
        }
        // While these were handed out there may have been news.
        if (page.length > 0) continue;
        if (state === 'closed') return;
        await news;
      }
    } finally {
      options.signal?.removeEventListener('abort', leave);
      leave();
    }
  }

  /** There is news of the run: events, or its end. */
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

  /** Waits for what comes from now on. */
  news(): Promise<void> {
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
