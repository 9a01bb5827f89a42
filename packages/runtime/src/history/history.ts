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
  othersFirst,
  type ResponseHead,
  type ResponseStore,
  type StoredItem,
} from '@liminal/storage';
import { isLargeRun } from '../turn/index.ts';
import { newestThatFit, type PageRoom, runsBefore } from './open-page.ts';

/** Entries of one page at most, and bytes of its items; an item that is larger is a page of its own. */
const PAGE_MAX = 200;
const PAGE_BYTES = 8 * 1024 * 1024;
/** What a reader has missed is looked for among so many items: a call and its result are two. */
const TAIL_ITEMS_MAX = 2 * PAGE_MAX;
/** A reader that has missed more turns than this gets a snapshot. */
const TAIL_TURNS_MAX = 50;
/** How far a page is extended to reach the call of a result on it: a result may have no call at all. */
const CUT_ROUNDS_MAX = 4;
const CUT_ROUND_ITEMS = 50;

export type Resumed = Omit<HistoryMessage, 'type' | 'sessionId'>;
type Place = Pick<StoredItem, 'runId' | 'index'>;

/** Runs as the store has them; of those on a page only the items on it. */
interface Stored {
  runs: readonly Response[];
  page?: ItemPage;
  /** Of the first run there is more in the store. */
  isCut?: boolean;
}

/** And what the store has of the open runs that come before those. */
interface Read extends Stored {
  earlier: readonly ResponseHead[];
}

export interface PageOptions {
  before?: string | undefined;
  limit?: number | undefined;
}

export interface LiveRuns {
  /** Runs whose final state the store may lack, oldest first; they win over what is stored of them. */
  readonly openRuns: Response[];
  /** How many runs have left `openRuns` for the store. */
  readonly forgotten: number;
}

interface HistoryOptions {
  sessionId: string;
  store: ResponseStore;
  /** Not there yet when this is made. */
  live: () => LiveRuns;
  /**
   * Where others write the runs: waits, not for ever, until the open ones have got as far as a place that somebody has
   * seen, and says whether they have.
   */
  reach?: (place: Position) => Promise<boolean>;
  /** The time, ISO 8601 UTC. */
  iso: () => string;
}

/** A session's conversation as readers are given it: the store's part, then the runs under way. */
export class HistoryReader {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The newest page, or the page before a place. */
  async page({ before, limit = PAGE_MAX }: PageOptions = {}): Promise<HistoryPage> {
    const wanted = Math.max(1, Math.min(limit, PAGE_MAX));
    const place = before === undefined ? undefined : decodeCursor(before);
    if (place) {
      const open = runsBefore(this.#live.openRuns, place);
      if (open.length > 0) return this.#pageBefore(open, wanted);
      const older = await this.#readPage({ runId: place.runId, index: place.seq }, wanted);
      return this.#render(older.runs, older.page);
    }
    return this.#unlessRunsMove(
      () => this.#readPage(undefined, wanted),
      ({ page, ...read }) => this.#renderNewest(this.#newest(read), wanted, page),
    );
  }

  /** A page of what is in memory; what comes before all of that, from the store. */
  async #pageBefore(open: readonly Response[], wanted: number): Promise<HistoryPage> {
    const [first] = open;
    const start = first && { runId: first.id, seq: 0 };
    if (start && open.some(({ outputItems }) => outputItems.length > 0)) {
      const { runs, before } = newestThatFit(open, () => true, roomFor(wanted));
      return withMore(this.#render(runs), before ?? start);
    }
    const { store, sessionId } = this.#options;
    const isStored = await store.listRuns(sessionId, { fromRunId: first?.id ?? '' });
    const place = start && isStored ? { runId: start.runId, index: 0 } : undefined;
    const older = await this.#readPage(place, wanted);
    return this.#render(older.runs, older.page);
  }

  /** What is in memory may be more than a page. */
  #renderNewest(all: readonly Response[], wanted: number, page?: ItemPage): HistoryPage {
    const open = new Set(this.#live.openRuns.map(({ id }) => id));
    const { runs, before } = newestThatFit(all, ({ id }) => open.has(id), roomFor(wanted));
    return before === undefined ? this.#render(all, page) : withMore(this.#render(runs), before);
  }

  /**
   * Gives a reader with this cursor what it lacks: the turns from its own on, or a snapshot. `take` is called in the
   * moment that this is the present: whatever is logged from then on is not in it.
   */
  async resume(cursor: string | undefined, take: (resumed: Resumed) => void): Promise<void> {
    const from = cursor === undefined ? undefined : decodeCursor(cursor);
    if (from && (await this.#tail(from, take))) return;
    // It may have been shown more elsewhere than is known here yet.
    const isReached = from && (await this.#options.reach?.(from));
    if (isReached && (await this.#tail(from, take))) return;
    await this.#unlessRunsMove(
      () => this.#readPage(undefined, PAGE_MAX),
      ({ page, ...read }) =>
        take({ ...this.#renderNewest(this.#withOpen(read), PAGE_MAX, page), resumed: 'snapshot' }),
      { reach: true },
    );
  }

  /** Whether the tail could be given: it is too long for some, and for others there is none. */
  async #tail(from: Position, take: (resumed: Resumed) => void): Promise<boolean> {
    return this.#unlessRunsMove(
      () => this.#readFrom(from.runId),
      (read) => {
        const runs = this.#withOpen(read);
        const first = runs.findIndex((run) => run.id === from.runId);
        const own = runs[first];
        if (!own || from.seq > own.lastSeq) return false;
        if (read.isCut && first === 0 && own.lastSeq !== from.seq) return false;
        const lacked = runs.slice(own.lastSeq === from.seq ? first + 1 : first);
        if (lacked.flatMap((run) => run.outputItems).length > TAIL_ITEMS_MAX) return false;
        const page = this.#render(lacked);
        if (page.entries.length > PAGE_MAX) return false;
        if (sizeOf(page.entries, PAGE_BYTES) > PAGE_BYTES) return false;
        take({ ...page, cursor: page.cursor || encodeCursor(from), resumed: 'tail' });
        return true;
      },
      { reach: true },
    );
  }

  /**
   * Reads, and uses what was read in the same moment: what `use` finds among the open runs belongs with it. Reads
   * again if meanwhile a run went from the open ones into the store: it might be in neither. For a reader who goes on
   * with the open runs (`reach`) those come first to the ends that the store has of them.
   */
  async #unlessRunsMove<T>(
    read: () => Promise<Stored>,
    use: (read: Read) => T,
    { reach = false } = {},
  ): Promise<T> {
    for (;;) {
      const before = this.#live.forgotten;
      const found = await this.#withEarlier(await read());
      if (found.runs.some(isLargeRun)) await othersFirst();
      for (const end of reach ? this.#unreadEnds(found) : []) await this.#options.reach?.(end);
      if (this.#live.forgotten === before) return use(found);
    }
  }

  /** Told by what the store has after them: one that begins meanwhile comes after what was read. */
  async #withEarlier(stored: Stored): Promise<Read> {
    const { store, sessionId } = this.#options;
    const [first] = stored.runs;
    const known = new Set(stored.runs.map(({ id }) => id));
    const others = first ? this.#live.openRuns.filter(({ id }) => !known.has(id)) : [];
    const earlier = others.map(async ({ id }) => {
      const heads = await store.listRuns(sessionId, { fromRunId: id });
      return heads?.some((head) => head.id === first?.id) ? heads.slice(0, 1) : [];
    });
    return { ...stored, earlier: (await Promise.all(earlier)).flat() };
  }

  #unreadEnds({ runs, earlier }: Read): Position[] {
    return [...earlier, ...runs]
      .filter((run) => this.#live.openRuns.some((one) => isPast(run, one)))
      .map(({ id, lastSeq }) => ({ runId: id, seq: lastSeq }));
  }

  get #live(): LiveRuns {
    return this.#options.live();
  }

  /** Each run as it is known best. */
  #newest(read: Read): Response[] {
    const open = this.#live.openRuns;
    return this.#withOpen(
      read,
      open.filter((one) => !read.runs.some((run) => isPast(run, one))),
    );
  }

  /** Each where it is stored: an open run need not be the newest, nor one of these. */
  #withOpen({ runs, earlier }: Read, openRuns = this.#live.openRuns): Response[] {
    const open = new Map(openRuns.map((run) => [run.id, run]));
    const known = new Set([...earlier, ...runs].map(({ id }) => id));
    const unknown = openRuns.filter(({ id }) => !known.has(id));
    return [...runs.map((run) => open.get(run.id) ?? run), ...unknown];
  }

  /** Stored runs from a cursor's run on; none if they are unknown or too many. */
  async #readFrom(runId: string): Promise<Stored> {
    const { store, sessionId } = this.#options;
    const wanted = { limit: TAIL_ITEMS_MAX, size: PAGE_BYTES };
    const page = await store.readItems(sessionId, wanted);
    const all = toRuns(page);
    const first = all.findIndex((run) => run.id === runId);
    if (first === -1 || all.length - first > TAIL_TURNS_MAX) return { runs: [] };
    const [oldest] = page.items;
    return {
      runs: all.slice(first),
      isCut: page.hasMore && oldest?.runId === runId && oldest.index > 0,
    };
  }

  /** Reads a page, and on to the calls whose results are on it, so that no tool call is cut in two. */
  async #readPage(before: Place | undefined, limit: number): Promise<Stored> {
    const { store, sessionId } = this.#options;
    const wanted = { ...(before && { before }), limit, size: PAGE_BYTES };
    let page = await store.readItems(sessionId, wanted);
    for (let round = 0; round < CUT_ROUNDS_MAX && page.hasMore; round++) {
      const [first] = page.items;
      const missing = cutCalls(page.items);
      if (!first || missing.size === 0) break;
      const more = { before: first, limit: CUT_ROUND_ITEMS, size: PAGE_BYTES };
      const older = await store.readItems(sessionId, more);
      page = extendToCalls(page, older, missing);
    }
    return { runs: toRuns(page), page };
  }

  #render(runs: readonly Response[], page?: ItemPage): HistoryPage {
    const now = this.#options.iso();
    const last = runs.at(-1);
    const first = page?.items[0];
    return {
      entries: runs.flatMap((run) => responseToUpserts(run, now)),
      turns: runs.map(summarizeTurn),
      cursor: last && last.lastSeq >= 0 ? encodeCursor({ runId: last.id, seq: last.lastSeq }) : '',
      hasMore: page?.hasMore ?? false,
      ...(page?.hasMore &&
        first && { before: encodeCursor({ runId: first.runId, seq: first.index }) }),
    };
  }
}

const roomFor = (items: number): PageRoom => ({ items, size: PAGE_BYTES });

/** With more before it. */
function withMore(page: HistoryPage, before: Position): HistoryPage {
  return { ...page, hasMore: true, before: encodeCursor(before) };
}

/** Whether the store has the end of an open run that has not come to it. */
function isPast(stored: ResponseHead, open: Response): boolean {
  const hasEnd = stored.id === open.id && stored.status !== 'in_progress';
  return hasEnd && stored.lastSeq > open.lastSeq;
}

/** Calls of the page's first run whose results are on the page though they themselves are not. */
function cutCalls(items: readonly StoredItem[]): Set<string> {
  const runId = items[0]?.runId;
  const own = items.filter((stored) => stored.runId === runId).map((stored) => stored.item);
  const calls = new Set(own.flatMap((item) => (item.type === 'function_call' ? item.callId : [])));
  const results = own.flatMap((item) => (item.type === 'function_call_output' ? item.callId : []));
  return new Set(results.filter((callId) => !calls.has(callId)));
}

/** The page, begun earlier: at the first of the missing calls that is among the older items. */
function extendToCalls(page: ItemPage, older: ItemPage, missing: ReadonlySet<string>): ItemPage {
  const start = older.items.findIndex(
    ({ runId, item }) =>
      runId === page.items[0]?.runId && item.type === 'function_call' && missing.has(item.callId),
  );
  if (start === -1) return page;
  return {
    items: [...older.items.slice(start), ...page.items],
    heads: page.heads,
    hasMore: older.hasMore || start > 0,
  };
}

/** The page's runs, each with only those of its items that are on the page. */
function toRuns(page: ItemPage): Response[] {
  const byRun = Map.groupBy(page.items, ({ runId }) => runId);
  return page.heads.map((head) => ({
    ...head,
    outputItems: (byRun.get(head.id) ?? []).map(({ item }) => item),
  }));
}
