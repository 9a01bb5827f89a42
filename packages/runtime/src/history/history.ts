import type { HistoryMessage, HistoryPage, Position, Response } from '@liminal/protocol';
import {
  decodeCursor,
  encodeCursor,
  responseToUpserts,
  sizeOf,
  summarizeTurn,
} from '@liminal/protocol';
import {
  type ItemPage,
  yieldToEventLoop,
  type ResponseHead,
  type ResponseStore,
  type StoredItem,
} from '@liminal/storage';
import { isLargeRun } from '../turn/index.ts';
import { FairSemaphore } from '../fair-semaphore.ts';
import { newestPage, type PageRoom, runsBefore } from './open-page.ts';
import {
  type OutsideCallKeys,
  type PageEdges,
  keysBeyond,
  type RunPage,
  pageOfRun,
} from './page-calls.ts';

/** The most entries of one page, and the most bytes of its items; a larger item is a page of its own. */
const pageMax = 200;
const pageBytes = 8 * 1024 * 1024;
/** The most items of a tail for a subscriber that missed turns; a call and its result are two items. */
const tailItemsMax = 2 * pageMax;
/**
 * How many subscribers of one session load at the same time. The number is limited because each load has a page in
 * memory.
 */
const loadsAtOnce = 4;
/** A subscriber that has missed more turns than this gets a snapshot. */
const tailTurnsMax = 50;

export type ResumedHistory = Omit<HistoryMessage, 'type' | 'sessionId'>;
type StoredPosition = Pick<StoredItem, 'runId' | 'index'>;

/** Runs from the store. Runs from a page contain only the items on that page. */
interface StoredRuns {
  runs: readonly Response[];
  page?: ItemPage;
  /** The positions of those calls and answers of the first run that come before the page in the run. */
  earlier?: RunPage['earlier'];
  /** Whether the store has further items of the first run. */
  isCut?: boolean;
}

/** Stored runs, preceded by the stored heads of those open runs that are earlier. */
interface ReadRuns extends StoredRuns {
  runsBefore: readonly ResponseHead[];
}

export interface PageOptions {
  before?: string | undefined;
  limit?: number | undefined;
}

export interface LiveRuns {
  /** Runs whose final state the store may lack, oldest first. The store may have older states of these runs. */
  readonly openRuns: Response[];
  /** Counts the runs that have moved from `openRuns` to the store. */
  readonly version: number;
}

type Take = (resumed: ResumedHistory) => void;
/** Waits until the open runs have reached a position. Resolves with whether the open runs have reached it. */
type Reach = (place: Position) => Promise<boolean>;

interface ResumingSubscriber {
  take: Take;
  hasLeft: () => boolean;
}

interface HistoryOptions {
  sessionId: string;
  store: ResponseStore;
  /** A function, because the live runs are created after the history. */
  live: () => LiveRuns;
  /**
   * Set if other servers write the runs. Waits, for a limited time, until the open runs have reached a position that a
   * subscriber has seen; resolves with false if the open runs have not reached it.
   */
  reach?: Reach;
  /** The current time, ISO 8601 UTC. */
  iso: () => string;
}

/** A session's conversation for subscribers: stored runs, then open runs. */
export class HistoryReader {
  readonly #loads = new FairSemaphore(loadsAtOnce);
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Returns the newest page, or the page before a position. */
  async page({ before, limit = pageMax }: PageOptions = {}): Promise<HistoryPage> {
    const wanted = Math.max(1, Math.min(limit, pageMax));
    const place = before === undefined ? undefined : decodeCursor(before);
    if (place) {
      const open = runsBefore(this.#live.openRuns, place);
      if (open.length > 0) return this.#pageBefore(open, wanted);
      const older = await this.#readPage({ runId: place.runId, index: place.seq }, wanted);
      return this.#render(older);
    }
    return this.#readConsistently(
      () => this.#readPage(undefined, wanted),
      (read) => this.#renderNewest(this.#withNewestStates(read), wanted, read),
    );
  }

  /**
   * Returns a page of the runs in memory. If the runs in memory have no items before the position, returns a page from
   * the store.
   */
  async #pageBefore(open: readonly Response[], wanted: number): Promise<HistoryPage> {
    const [first] = open;
    const start = first && { runId: first.id, seq: 0 };
    if (start && open.some(({ outputItems }) => outputItems.length > 0)) {
      const { before, ...fitting } = newestPage(open, this.#live.openRuns, roomFor(wanted));
      return withMore(this.#render(fitting), before ?? start);
    }
    const { store, sessionId } = this.#options;
    const isStored = await store.listRuns(sessionId, { fromRunId: first?.id ?? '' });
    const place = start && isStored ? { runId: start.runId, index: 0 } : undefined;
    const older = await this.#readPage(place, wanted);
    return this.#render(older);
  }

  /** Returns the newest page. The runs in memory alone may be larger than a page. */
  #renderNewest(
    all: readonly Response[],
    wanted: number,
    { page, earlier }: StoredRuns,
  ): HistoryPage {
    const open = this.#live.openRuns;
    const { before, ...fitting } = newestPage(all, open, roomFor(wanted));
    if (before !== undefined) return withMore(this.#render(fitting), before);
    // A run in memory is complete, so the positions in `earlier` are not needed for it.
    const isWhole = open.some(({ id }) => id === all[0]?.id);
    const shownEarlier = !isWhole && earlier !== undefined && { earlier };
    return this.#render({ runs: all, ...(page && { page }), ...shownEarlier });
  }

  /**
   * Loads what a subscriber lacks: the turns from the subscriber's cursor on, or a snapshot. Waits until the subscriber
   * may load, because only a few load at the same time. `take` is called synchronously with the newest state, so its
   * argument lacks only events that are logged later. If the subscriber has left, reads nothing.
   */
  async resume(
    cursor: () => string | undefined,
    { take, hasLeft }: ResumingSubscriber,
  ): Promise<void> {
    const reach = async (place: Position): Promise<boolean> => {
      const isReached = await this.#reach(place);
      if (hasLeft()) throw new Error('The subscriber has left.');
      return isReached;
    };
    await this.#loads.run(async () => {
      if (!hasLeft()) await this.#resume(cursor(), take, reach);
    });
  }

  async #resume(cursor: string | undefined, take: Take, reach: Reach): Promise<void> {
    await yieldToEventLoop();
    const from = cursor === undefined ? undefined : decodeCursor(cursor);
    if (from && (await this.#tail(from, take, reach))) return;
    // Another server may have shown the subscriber events that this server has not read yet.
    const isReached = from && (await reach(from));
    if (isReached && (await this.#tail(from, take, reach))) return;
    await this.#readConsistently(
      () => this.#readPage(undefined, pageMax),
      (read) =>
        take({ ...this.#renderNewest(this.#withOpen(read), pageMax, read), resumed: 'snapshot' }),
      reach,
    );
  }

  /** Other subscribers load while this one waits. */
  async #reach(place: Position): Promise<boolean> {
    const { reach } = this.#options;
    return reach !== undefined && this.#loads.pause(async () => reach(place));
  }

  /** If there is a tail, and it is short enough, passes it to `take`; otherwise returns false. */
  async #tail(from: Position, take: Take, reach: Reach): Promise<boolean> {
    return this.#readConsistently(
      () => this.#readFrom(from.runId),
      (read) => {
        const runs = this.#withOpen(read);
        const first = runs.findIndex((run) => run.id === from.runId);
        const own = runs[first];
        if (!own || from.seq > own.lastSeq) return false;
        if (read.isCut && first === 0 && own.lastSeq !== from.seq) return false;
        const lacked = runs.slice(own.lastSeq === from.seq ? first + 1 : first);
        if (lacked.flatMap((run) => run.outputItems).length > tailItemsMax) return false;
        const page = this.#render({ runs: lacked });
        if (page.entries.length > pageMax) return false;
        if (sizeOf(page.entries, pageBytes) > pageBytes) return false;
        take({ ...page, cursor: page.cursor || encodeCursor(from), resumed: 'tail' });
        return true;
      },
      reach,
    );
  }

  /**
   * Reads, and calls `use` immediately after the read, so that the open runs match the stored runs. Reads again if a
   * run moved from the open runs to the store during the read, because the read might then lack that run. If `reach` is
   * given, the subscriber will continue with the open runs; therefore this method first waits until the open runs have
   * the ends that the store has. During the wait, the earlier result is not kept in memory.
   */
  async #readConsistently<T>(
    read: () => Promise<StoredRuns>,
    use: (read: ReadRuns) => T,
    reach?: Reach,
  ): Promise<T> {
    const awaited = new Set<string>();
    for (;;) {
      const tried = await this.#tryToUse(read, use, reach && awaited);
      if ('used' in tried) return tried.used;
      for (const end of tried.unread) {
        awaited.add(end.runId);
        await reach?.(end);
      }
    }
  }

  /** @param awaited - Runs whose ends were already waited for; if not given, no end is waited for. */
  async #tryToUse<T>(
    read: () => Promise<StoredRuns>,
    use: (read: ReadRuns) => T,
    awaited?: ReadonlySet<string>,
  ): Promise<{ used: T } | { unread: Position[] }> {
    const before = this.#live.version;
    const found = await this.#withEarlier(await read());
    if (found.runs.some(isLargeRun)) await yieldToEventLoop();
    const unread = awaited
      ? this.#unreadEnds(found).filter(({ runId }) => !awaited.has(runId))
      : [];
    const isUsable = unread.length === 0 && this.#live.version === before;
    return isUsable ? { used: use(found) } : { unread };
  }

  /**
   * Adds the heads of the open runs that are earlier than the stored runs. An open run is earlier if the store lists
   * the first stored run after it; a run that begins during the read is later.
   */
  async #withEarlier(stored: StoredRuns): Promise<ReadRuns> {
    const { store, sessionId } = this.#options;
    const [first] = stored.runs;
    const known = new Set(stored.runs.map(({ id }) => id));
    const others = first ? this.#live.openRuns.filter(({ id }) => !known.has(id)) : [];
    const before = others.map(async ({ id }) => {
      const heads = await store.listRuns(sessionId, { fromRunId: id });
      return heads?.some((head) => head.id === first?.id) ? heads.slice(0, 1) : [];
    });
    return { ...stored, runsBefore: (await Promise.all(before)).flat() };
  }

  #unreadEnds({ runs, runsBefore: before }: ReadRuns): Position[] {
    return [...before, ...runs]
      .filter((run) => this.#live.openRuns.some((one) => isPast(run, one)))
      .map(({ id, lastSeq }) => ({ runId: id, seq: lastSeq }));
  }

  get #live(): LiveRuns {
    return this.#options.live();
  }

  /** Returns the runs, each in its newest known state. */
  #withNewestStates(read: ReadRuns): Response[] {
    const open = this.#live.openRuns;
    return this.#withOpen(
      read,
      open.filter((one) => !read.runs.some((run) => isPast(run, one))),
    );
  }

  /**
   * Replaces stored runs with their open states. An open run may be older than the newest stored run, or missing
   * among the stored runs.
   */
  #withOpen({ runs, runsBefore: before }: ReadRuns, openRuns = this.#live.openRuns): Response[] {
    const open = new Map(openRuns.map((run) => [run.id, run]));
    const known = new Set([...before, ...runs].map(({ id }) => id));
    const unknown = openRuns.filter(({ id }) => !known.has(id));
    return [...runs.map((run) => open.get(run.id) ?? run), ...unknown];
  }

  /** Returns the stored runs from the cursor's run on; none if the cursor's run is unknown or too far back. */
  async #readFrom(runId: string): Promise<StoredRuns> {
    const { store, sessionId } = this.#options;
    const wanted = { limit: tailItemsMax, size: pageBytes };
    const page = await store.readItems(sessionId, wanted);
    const all = toRuns(page);
    const first = all.findIndex((run) => run.id === runId);
    if (first === -1 || all.length - first > tailTurnsMax) return { runs: [] };
    const [oldest] = page.items;
    return {
      runs: all.slice(first),
      isCut: page.hasMore && oldest?.runId === runId && oldest.index > 0,
    };
  }

  /** Reads a page, and the calls and answers outside the page that belong to the page's items. */
  async #readPage(before: StoredPosition | undefined, limit: number): Promise<StoredRuns> {
    const { store, sessionId } = this.#options;
    const wanted = { ...(before && { before }), limit, size: pageBytes };
    const page = await store.readItems(sessionId, wanted);
    const { items } = page;
    const [first, last] = [items[0], items.at(-1)];
    if (first === undefined || last === undefined) return { runs: toRuns(page), page };
    const ends = [...new Set([first.runId, last.runId])].map(async (runId) => {
      const head = page.heads.find(({ id }) => id === runId);
      const own = items.filter((item) => item.runId === runId);
      return head && ([runId, await this.#withCalls(head, own)] as const);
    });
    const cut = new Map((await Promise.all(ends)).filter((end) => end !== undefined));
    const size = [...cut.values()].reduce((sum, end) => sum + end.size, 0);
    // Read a smaller page: fewer items have fewer calls and answers outside the page.
    if (size > pageBytes && items.length > 1) {
      return this.#readPage(before, Math.ceil(items.length / 2));
    }
    const runs = toRuns(page).map((run) => ({
      ...run,
      outputItems: cut.get(run.id)?.items ?? run.outputItems,
    }));
    return { runs, page, earlier: cut.get(first.runId)?.earlier ?? [] };
  }

  /** One run's items on a page, and the calls and answers before and after the page that belong to them. */
  async #withCalls(run: ResponseHead, onPage: readonly StoredItem[]): Promise<RunPage> {
    const edges = { from: onPage[0]?.index ?? 0, to: (onPage.at(-1)?.index ?? -1) + 1 };
    const known = [...onPage];
    const asked = { before: new Set<string>(), from: new Set<string>() };
    for (;;) {
      const beyond = keysBeyond(known, edges);
      // No item can come before a run's first item.
      const before = edges.from > 0 ? beyond.before.difference(asked.before) : new Set<string>();
      const from = beyond.from.difference(asked.from);
      if (before.size + from.size === 0) break;
      for (const key of before) asked.before.add(key);
      for (const key of from) asked.from.add(key);
      known.push(...(await this.#readCalls(run.id, { before, from }, edges)));
    }
    const inOrder = known.toSorted((a, b) => a.index - b.index);
    return pageOfRun(run, inOrder, edges);
  }

  async #readCalls(
    runId: string,
    keys: OutsideCallKeys,
    { from, to }: PageEdges,
  ): Promise<StoredItem[]> {
    const { store } = this.#options;
    const wanted = [
      { runId, keys: [...keys.before], side: 'before', index: from } as const,
      { runId, keys: [...keys.from], side: 'from', index: to } as const,
    ].filter((one) => one.keys.length > 0);
    return (await Promise.all(wanted.map(async (one) => store.readCalls(one)))).flat();
  }

  #render({ runs, page, earlier = [] }: StoredRuns): HistoryPage {
    const now = this.#options.iso();
    const last = runs.at(-1);
    const first = page?.items[0];
    return {
      entries: runs.flatMap((run) => responseToUpserts(run, now)),
      ...(earlier.length > 0 && { earlier: [...earlier] }),
      turns: runs.map(summarizeTurn),
      cursor: last && last.lastSeq >= 0 ? encodeCursor({ runId: last.id, seq: last.lastSeq }) : '',
      hasMore: page?.hasMore ?? false,
      ...(page?.hasMore &&
        first && { before: encodeCursor({ runId: first.runId, seq: first.index }) }),
    };
  }
}

const roomFor = (items: number): PageRoom => ({ items, size: pageBytes });

/** Marks the page to show that there are items before it. */
function withMore(page: HistoryPage, before: Position): HistoryPage {
  return { ...page, hasMore: true, before: encodeCursor(before) };
}

/** Whether the store has the run's end, but the open run has not reached its end. */
function isPast(stored: ResponseHead, open: Response): boolean {
  const hasEnd = stored.id === open.id && stored.status !== 'in_progress';
  return hasEnd && stored.lastSeq > open.lastSeq;
}

/** The page's runs, each with only its items on the page. */
function toRuns(page: ItemPage): Response[] {
  const byRun = Map.groupBy(page.items, ({ runId }) => runId);
  return page.heads.map((head) => ({
    ...head,
    outputItems: (byRun.get(head.id) ?? []).map(({ item }) => item),
  }));
}
