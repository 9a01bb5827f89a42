import { setTimeout } from 'node:timers/promises';
import type { StoredTurn } from '@liminal/agents';
import { type Response, withoutTakenBack } from '@liminal/protocol';
import type { ResponseHead } from '@liminal/storage';
import {
  forkNotice,
  continuationNotice,
  noticeId,
  unknownBranchNotice,
  positionSuffix,
  storedPrompt,
  withNotice,
} from './fork-notices.ts';
import { importTurns, withKnownIds } from '../history/index.ts';
import type { SessionAgent } from './session-agent.ts';
import type { SessionContext } from './session-context.ts';

/** How many of history's last runs are compared with the agent's stored turns. */
const compared = 30;

/** How far the times of a turn in history and of the agent's stored copy may differ, in ms. */
const clocksMs = 2_000;

/**
 * After Liminal has changed a session, the store's `storedMark` may change for this long, in ms, without a change by
 * another program: agents store changes late.
 */
const initialOwnMs = 2_000;

/**
 * How long a message waits until the agent's store is read again for outside turns, in ms: on a busy machine, the
 * program that reads the store starts slowly.
 */
const readMs = 20_000;

interface OutsideRuns {
  runs: Response[];
  /** Whether every run in `runs` is later than every run in history. */
  isAtEnd: boolean;
}

const nothing: OutsideRuns = { runs: [], isAtEnd: true };

/**
 * Imports turns that were made outside Liminal in the same session, for example in a terminal. These turns are read
 * from the agent's own store, or are reported by the agent when it starts; then they are appended to history. No agent
 * is started only to read these turns.
 */
export class OutsideTurns {
  readonly #context: SessionContext;
  /**
   * The session's agent. A running agent knows only its own turns; after a restart, the agent also knows the turns made
   * outside.
   */
  readonly #agent: SessionAgent;
  /** Whether a turn is running, so that the agent's stored copy of that turn is incomplete. */
  readonly #isInTurn: () => boolean;
  /** The store's `storedMark` when the store was last read. */
  #mark: string | undefined;
  /** When Liminal last changed the session in a way that its agent may store, in ms since the epoch. */
  #changedAt = 0;
  /**
   * For how long after `#changedAt` a new `storedMark` is attributed to Liminal's own change, in ms. The time is
   * doubled whenever a later mark brought no new turns.
   */
  #ownMs = initialOwnMs;
  /** Settles when the last lookup is done. */
  #lastLookup: Promise<unknown> = Promise.resolve();

  constructor(context: SessionContext, agent: SessionAgent, isInTurn: () => boolean) {
    this.#context = context;
    this.#agent = agent;
    this.#isInTurn = isInTurn;
  }

  /**
   * Imports turns that history lacks or has only in part. Runs one import at a time, and none while a turn runs.
   * `reported` are the turns that an agent reported when it started; without `reported`, the store is read.
   */
  async importNew(reported?: Promise<StoredTurn[]>): Promise<OutsideRuns> {
    return this.#next(async () => {
      if (this.#isInTurn()) return nothing;
      if (reported !== undefined) return this.#importReported(await reported);
      return this.#context.driver.numbersStoredTurns === true
        ? this.#importIfChanged()
        : this.#importFromStore();
    });
  }

  /** Records that Liminal has made a change that the agent may store and that is not a turn. */
  recordChange(): void {
    this.#changedAt = Date.now();
  }

  /** Records the store's `storedMark` at the end of a turn. */
  async note(): Promise<void> {
    this.recordChange();
    if (this.#context.driver.numbersStoredTurns !== true) return;
    const noting = this.#next(async () => {
      if (!this.#isInTurn()) this.#storeMark(await this.#readMark());
    });
    // If that fails, the next message looks for outside turns again.
    await noting.catch(() => undefined);
  }

  /** Resolves when no lookup is running, and the results of lookups are stored. */
  async settled(): Promise<void> {
    await this.#lastLookup;
    await this.#context.record.saved();
  }

  async #next<T>(work: () => Promise<T>): Promise<T> {
    const working = this.#lastLookup.then(work);
    this.#lastLookup = working.catch(() => undefined);
    return working;
  }

  /**
   * Asks a running agent for its store's `storedMark`, and compares it with the last known mark. If the mark has
   * changed by more than Liminal's own changes explain, a separate process reads the store: the running agent has work
   * and permissions in its memory, and is stopped only if it lacks turns. If the store cannot be read, the agent
   * continues.
   */
  async #importIfChanged(): Promise<OutsideRuns> {
    const { record } = this.#context;
    const agent = this.#agent;
    const known = record.value.storedMark;
    // Before Liminal's first turn there is no known `storedMark`, and asking for the mark takes time.
    if (!agent.isAlive || known === undefined) return nothing;
    const mark = await this.#readMark();
    if (mark === undefined || mark === known) return nothing;
    if (this.#isOurs(mark)) {
      this.#storeMark(mark);
      return nothing;
    }
    // If new turns are found, `#ownMs` gets its old value back: the later mark then came from another program, not from
    // Liminal.
    const ownMs = this.#ownMs;
    this.#ownMs *= 2;
    const stored = await Promise.race([
      this.#read(),
      setTimeout(readMs, undefined, { ref: false }),
    ]);
    if (stored === undefined) return nothing;
    const found = await this.#compare(stored);
    // Reading a session may change the session's mark, so the mark is read again.
    this.#storeMark(await this.#readMark());
    if (found.runs.length === 0) return nothing;
    this.#ownMs = ownMs;
    await agent.stop();
    return found;
  }

  /** Returns whether the change that this mark dates was made by Liminal itself. */
  #isOurs(mark: string): boolean {
    return Date.parse(mark) <= this.#changedAt + this.#ownMs;
  }

  async #importReported(stored: readonly StoredTurn[]): Promise<OutsideRuns> {
    // Starting an agent with a session may change the session's mark, even after the agent has answered.
    this.recordChange();
    const mark = await this.#readMark();
    const found = stored.length === 0 ? nothing : await this.#compare(stored);
    this.#storeMark(mark);
    return found;
  }

  /** Returns those reported turns of an agent that history lacks. */
  async #compare(stored: readonly StoredTurn[]): Promise<OutsideRuns> {
    const { store, record, blobKeeper } = this.#context;
    const { sessionId } = record.value;
    const known = (await store.listRuns(sessionId)) ?? [];
    const last = await Promise.all(
      known.slice(-compared).map(async ({ id }) => store.getResponse(id)),
    );
    const turns = withKnownIds(
      stored,
      last.flatMap((run) => run ?? []),
      known,
    );
    const runs = await this.#withForks(sessionId, outsideTurns(turns, known), turns, known);
    if (runs.length > 0) await store.importResponses(await blobKeeper.storeRuns(runs));
    return { runs, isAtEnd: runs.every(({ id }) => known.every((run) => run.id !== id)) };
  }

  #storeMark(storedMark: string | undefined): void {
    const { record } = this.#context;
    if (storedMark !== undefined && storedMark !== record.value.storedMark) {
      record.tryUpdate({ storedMark });
    }
  }

  async #importFromStore(): Promise<OutsideRuns> {
    const { store, record, blobKeeper } = this.#context;
    const agent = this.#agent;
    const { sessionId } = record.value;
    let mark = await this.#readMark();
    if (mark === undefined || mark === this.#mark) return nothing;
    const known = (await store.listRuns(sessionId)) ?? [];
    let stored = await this.#read();
    let found = await this.#withoutKnown(outsideTurns(stored, known), known);
    if (found.length > 0 && agent.isInUse) {
      // The running agent does not know the new turns, so it is stopped. When the agent ends, it stores its own
      // position in the conversation; the agent's next process continues from that position.
      await agent.stop();
      mark = await this.#readMark();
      stored = await this.#read();
      found = await this.#withoutKnown(outsideTurns(stored, known), known);
    }
    const runs = await this.#withForks(sessionId, found, stored, known);
    if (runs.length === 0 && !agent.isInUse)
      runs.push(...(await this.#positionNotice(stored, withoutTakenBack(known))));
    if (runs.length > 0) await store.importResponses(await blobKeeper.storeRuns(runs));
    this.#mark = mark;
    const isAtEnd = runs.every(({ id }) => known.every((run) => run.id !== id));
    return { runs, isAtEnd };
  }

  async #readMark(): Promise<string | undefined> {
    const { driver, record } = this.#context;
    const { sessionId, agentSessionId = sessionId, projectDir } = record.value;
    return driver.storedMark?.(agentSessionId, projectDir);
  }

  async #read(): Promise<StoredTurn[]> {
    const { driver, record } = this.#context;
    const { sessionId, agentSessionId = sessionId, projectDir } = record.value;
    return (await driver.readStoredHistory?.(agentSessionId, projectDir)) ?? [];
  }

  /** Converts turns to runs. The first run of each branch gets a notice that the conversation forks at this run. */
  async #withForks(
    sessionId: string,
    found: readonly StoredTurn[],
    stored: readonly StoredTurn[],
    known: readonly ResponseHead[],
  ): Promise<Response[]> {
    const runs: Response[] = [];
    for (const [index, turn] of found.entries()) {
      const [run] = importTurns(sessionId, [turn]);
      if (!run) continue;
      const isKnown = known.some(({ id }) => id === run.id);
      // Turns that were taken back in Liminal are not another branch.
      const notice = isKnown
        ? await this.#noticeOf(run.id)
        : forkNotice(turn, found.slice(0, index), stored, withoutTakenBack(known));
      runs.push(withNotice(run, notice));
    }
    return runs;
  }

  /**
   * Returns a run that contains only a notice: the restarted agent continues from another position than users were
   * shown. The run is made once, and only if no new turn shows that position.
   */
  async #positionNotice(
    stored: readonly StoredTurn[],
    known: readonly ResponseHead[],
  ): Promise<Response[]> {
    const turns = new Map(stored.map((turn) => [turn.turnId, turn]));
    const position = stored.findLast(({ isLeft }) => isLeft !== true);
    const reported = await this.#reportedPosition(turns, known);
    const last = known.at(-1);
    if (!position || !last || turns.get(reported ?? '')?.isLeft !== true) return [];
    const id = `${position.turnId}${positionSuffix}`;
    const { sessionId, modelId, providerId } = last;
    const head = { id, turnId: id, sessionId, modelId, providerId, trigger: 'agent' } as const;
    const times = { createdAt: last.updatedAt, updatedAt: last.updatedAt };
    const completion = { status: 'complete', finishReason: null, lastSeq: 0 } as const;
    const run = { ...head, ...times, ...completion, outputItems: [], madeElsewhere: true };
    return [withNotice(run, continuationNotice(storedPrompt(position) ?? ''))];
  }

  /** Returns the newest turn that the agent knows, according to the notices in the conversation. */
  async #reportedPosition(
    turns: ReadonlyMap<string, StoredTurn>,
    known: readonly ResponseHead[],
  ): Promise<string | undefined> {
    const runs = new Map(known.map((run) => [run.id, run]));
    for (const { id } of known.toReversed()) {
      if (id.endsWith(positionSuffix)) return id.slice(0, -positionSuffix.length);
      if (!turns.has(id)) continue;
      let isKnown = true;
      for (let at = runs.get(id); isKnown && at?.madeElsewhere === true;) {
        isKnown = (await this.#noticeOf(at.id)) !== unknownBranchNotice;
        at = runs.get(turns.get(at.id)?.after ?? '');
      }
      if (isKnown) return id;
    }
    return undefined;
  }

  /** Returns the notice that a run in history already has; the new version of the run keeps the notice. */
  async #noticeOf(runId: string): Promise<string | undefined> {
    const [first] = (await this.#context.store.getResponse(runId))?.outputItems ?? [];
    return first?.type === 'message' && first.id === noticeId(runId) ? first.content : undefined;
  }

  /** Leaves out turns that history already has under another id: some agents store commands under new ids. */
  async #withoutKnown(
    turns: readonly StoredTurn[],
    known: readonly ResponseHead[],
  ): Promise<StoredTurn[]> {
    const isHere = await Promise.all(
      turns.map(async (turn) => {
        const time = Date.parse(turn.events[0]?.timestamp ?? '');
        const near = known.filter(
          ({ madeElsewhere, createdAt, updatedAt }) =>
            madeElsewhere !== true && createdAt - clocksMs <= time && time <= updatedAt + clocksMs,
        );
        const prompts = await Promise.all(near.map(async ({ id }) => this.#promptOf(id)));
        const prompt = storedPrompt(turn);
        return prompt !== undefined && prompts.includes(prompt);
      }),
    );
    return turns.filter((_, index) => isHere[index] === false);
  }

  async #promptOf(runId: string): Promise<string | undefined> {
    const items = (await this.#context.store.getResponse(runId))?.outputItems ?? [];
    const prompt = items.find((item) => item.type === 'message' && item.origin === 'user');
    return prompt?.type === 'message' ? prompt.content : undefined;
  }
}

/**
 * Returns the stored turns that were made outside Liminal and that history lacks, or has only in part. A turn that
 * Liminal began has the id of its message in the store. A turn that the agent began by itself has another id in the
 * store than in history; such a turn counts as made outside if the turn before it was made outside.
 */
export function outsideTurns(
  stored: readonly StoredTurn[],
  known: readonly ResponseHead[],
): StoredTurn[] {
  const runs = new Map(known.map((run) => [run.id, run]));
  const ownTurns = new Set<string>();
  const start = stored.findIndex(({ turnId }) => {
    const run = runs.get(turnId);
    return run !== undefined && run.madeElsewhere !== true;
  });
  return stored.filter(({ turnId, after = '', events, isLeft, isCopied }, index) => {
    const run = runs.get(turnId);
    const first = events[0]?.payload;
    const isOwnAccord = first?.type === 'response_start' && first.trigger === 'agent';
    if (run ? run.madeElsewhere !== true : isOwnAccord && ownTurns.has(after)) {
      ownTurns.add(turnId);
      return false;
    }
    // A turn that was taken back before the fork, or before Liminal's first message, is not part of this conversation.
    const isEarlier = isCopied === true || start === -1 || index < start;
    if (isLeft === true && !run && isEarlier) return false;
    return !run || run.lastSeq < events.length - 1;
  });
}
