/** Creates a new session from another session's conversation. */
import { randomUUID } from 'node:crypto';
import {
  type AgentDriver,
  agentErrors,
  forkStored,
  type StoredFork,
  type StoredTurn,
} from '@liminal/agents';
import {
  isServerTurn,
  type Response,
  serverReasons,
  takenBack,
  toResponse,
} from '@liminal/protocol';
import type { BlobStore, ResponseStore, SessionRecord } from '@liminal/storage';
import { errors } from '../errors.ts';
import { holdAgain } from '../blobs/index.ts';
import { readRun, type Storage } from '../history/index.ts';
import {
  withFinalNotice,
  newerFilesNotice,
  sessionName,
  newRecord,
  noticeId,
  positionSuffix,
} from '../session/index.ts';

interface Forking extends Pick<Storage, 'log' | 'store'> {
  original: SessionRecord;
  /** The new session's id. */
  sessionId: string;
  /** The last turn of the new session; by default the last finished turn. */
  turnId: string | undefined;
  driver: AgentDriver;
  store: ResponseStore;
  blobs: BlobStore;
  /** The current time, ISO 8601 UTC. */
  iso: () => string;
  /** Throws `STALE_OWNER` if another server may have taken the original: that server must make the fork. */
  confirmOwned: () => Promise<void>;
}

interface ForkedRun {
  id: string;
  turnId: string;
  /** Undefined for a run that history does not have yet. */
  trigger?: Response['trigger'];
  hasEnded: boolean;
  /** True for a server turn, which the agent does not have. */
  isOurs?: boolean;
  isRewind?: boolean;
  rewoundTo?: string | undefined;
}

/** How many runs are copied at the same time. */
const runsAtOnce = 20;

/**
 * Makes a fork: the agent copies its conversation, and Liminal copies the history under new ids. The session's record
 * is stored last: until then the session is not visible.
 */
export async function forkSession(forking: Forking): Promise<SessionRecord> {
  const { original, sessionId, driver, store, iso, confirmOwned } = forking;
  if (!driver.fork) throw agentErrors.NOT_SUPPORTED.fork(driver.name);
  await confirmOwned();
  // An earlier try with this id may have been interrupted, and left parts of the copy.
  await store.deleteSession(sessionId);
  const { runs, hasLater, hasLaterTurns } = await readUpTo(forking);
  if (driver.forksWhole === true && hasLaterTurns) {
    const { name } = await driver.describe();
    throw agentErrors.TURN_NOT_STORED.notNewest(name);
  }
  const agentSessionId = original.agentSessionId ?? original.sessionId;
  const turns = runs.filter(({ isOurs }) => isOurs !== true);
  const turnId = turns.at(-1)?.turnId ?? '';
  const storedId = await storedIdOf(turns, driver, agentSessionId, original.projectDir);
  const fork = await forkStored(driver, agentSessionId, original.projectDir, storedId);
  const { cliType, projectId, projectDir, additionalDirectories, config } = original;
  const [title, time] = [sessionName(original), iso()];
  const notice = hasLater ? newerFilesNotice(title) : undefined;
  const lastKnown = await settingsFor(forking);
  const record = newRecord({
    sessionId,
    cliType,
    projectId,
    projectDir,
    ...(additionalDirectories && { additionalDirectories }),
    // The title begins with "Fork of", so that a narrow list does not cut these words off. A fork of a fork does not
    // repeat them.
    title: `Fork of ${title.replace(/^Fork of /, '')}`,
    createdAt: time,
    updatedAt: time,
    config,
    ...(lastKnown && { lastKnown }),
    fence: 0,
    ...(fork.agentSessionId !== undefined && { agentSessionId: fork.agentSessionId }),
    forkedFrom: { sessionId: original.sessionId, turnId, title },
  });
  try {
    await copyRuns(forking, fork, runs, notice);
    await confirmOwned();
    await store.saveSession(record);
    return record;
  } catch (error) {
    const made = await madeAnyway(forking).catch(() => undefined);
    if (made) return made;
    throw error;
  }
}

/**
 * Returns the original's settings and commands as its agent last reported them: the fork shows them before its agent
 * starts.
 */
async function settingsFor({
  original,
  sessionId,
  blobs,
}: Forking): Promise<SessionRecord['lastKnown']> {
  const { offers, values } = original.lastKnown ?? {};
  if (offers === undefined) return undefined;
  const missing = await blobs.hold(sessionId, [offers]);
  return missing.length > 0 ? undefined : { offers, ...(values && { values }) };
}

/**
 * If the fork was made, and only the result of its last write was lost, returns the fork. Otherwise removes the written
 * parts of the fork.
 */
async function madeAnyway(forking: Forking): Promise<SessionRecord | undefined> {
  const { sessionId, store, confirmOwned } = forking;
  const made = await store.getSession(sessionId);
  if (made) return made;
  await confirmOwned();
  await store.deleteSession(sessionId);
  return undefined;
}

/**
 * Returns the runs up to the end of the turn, from history or the log; whether there are later runs; and whether the
 * later runs include turns of the agent.
 */
async function readUpTo({
  original,
  turnId,
  log,
  store,
}: Forking): Promise<{ runs: ForkedRun[]; hasLater: boolean; hasLaterTurns: boolean }> {
  const { sessionId } = original;
  const logged = (await log.unsettled()).filter((run) => run.sessionId === sessionId);
  const known = ((await store.listRuns(sessionId)) ?? []).map((run) => {
    const { id, turnId, trigger, status } = run;
    const hasEnded =
      status !== 'in_progress' || logged.some((run) => run.runId === id && run.ended);
    const isRewind = run.finishReason === serverReasons.rewind;
    const { rewoundTo } = run;
    return { id, turnId, trigger, hasEnded, isOurs: isServerTurn(run), isRewind, rewoundTo };
  });
  const others = logged
    .filter(({ runId }) => known.every(({ id }) => id !== runId))
    .map(({ runId, turnId, ended }): ForkedRun => ({ id: runId, turnId, hasEnded: ended }));
  // A run that only records the agent's position in the conversation is not a turn.
  const all = [...known, ...others].filter(({ id }) => !id.endsWith(positionSuffix));
  const gone = takenBack(all);
  if (turnId !== undefined && gone.has(turnId)) throw errors.TURN_TAKEN_BACK.takenBack();
  // A copy has neither the turns that were taken back, nor the notices about taking turns back.
  const runs = all.filter((run) => !gone.has(run.turnId) && run.rewoundTo === undefined);
  let at = runs.findLastIndex((run) =>
    turnId === undefined ? run.hasEnded : run.turnId === turnId,
  );
  const last = runs[at];
  // The copy includes the rewinds of files that follow, because the files are now in the state after these rewinds.
  while (runs[at + 1]?.isRewind === true) at += 1;
  if (last?.hasEnded === true) {
    const copied = runs.slice(0, at + 1).filter(({ hasEnded }) => hasEnded);
    const later = runs.slice(at + 1);
    const hasLaterTurns = later.some(({ isOurs }) => isOurs !== true);
    return { runs: copied, hasLater: later.length > 0, hasLaterTurns };
  }
  if (last !== undefined) {
    throw errors.TURN_IN_PROGRESS.toFork();
  }
  if (turnId === undefined) throw errors.TURN_NOT_FOUND.noneEnded(sessionId);
  throw errors.TURN_NOT_FOUND.unknown(sessionId, turnId);
}

/**
 * Returns the id of the last of these turns in the agent's store. A turn that the agent began by itself has a different
 * id in the agent's store, and is found there by its position after the last turn that a user began.
 */
async function storedIdOf(
  runs: readonly ForkedRun[],
  driver: AgentDriver,
  agentSessionId: string,
  projectDir: string,
): Promise<string> {
  const last = runs.at(-1)?.turnId ?? '';
  const asked = runs.findLastIndex(({ trigger }) => trigger !== 'agent');
  if (asked === runs.length - 1) return last;
  const stored = (await driver.readStoredHistory?.(agentSessionId, projectDir)) ?? [];
  if (stored.some(({ turnId }) => turnId === last)) return last;
  const before = stored.findIndex(({ turnId }) => turnId === runs[asked]?.turnId);
  const between = stored.slice(before + 1, before + runs.length - asked);
  const areOwn = before >= 0 && between.every(isOwnAccord);
  return (areOwn && between[runs.length - 2 - asked]?.turnId) || last;
}

function isOwnAccord({ events }: StoredTurn): boolean {
  const first = events[0]?.payload;
  return first?.type === 'response_start' && first.trigger === 'agent';
}

async function copyRuns(
  { sessionId, log, store, blobs, confirmOwned }: Forking,
  { copies, left }: StoredFork,
  runs: readonly ForkedRun[],
  notice: string | undefined,
): Promise<void> {
  // Leaves out turns that the agent does not know: they belong to another branch of the conversation.
  const own = runs.filter(({ turnId }) => !left.has(turnId));
  for (let at = 0; at < own.length; at += runsAtOnce) {
    const read = own.slice(at, at + runsAtOnce).map(async ({ id, turnId }) => {
      const run = toResponse(await readRun({ log, store }, id));
      return run ? [copyOf(run, sessionId, copies.get(turnId) ?? randomUUID())] : [];
    });
    const copied = (await Promise.all(read)).flat();
    const isEnd = at + runsAtOnce >= own.length;
    if (isEnd) copied.push(...copied.splice(-1).map((run) => withFinalNotice(run, notice)));
    await confirmOwned();
    await holdAgain(blobs, sessionId, copied);
    await store.importResponses(copied);
  }
}

/**
 * Returns a copy of a run under new ids. Leaves out notices about branches, because the new session has no branches.
 */
function copyOf(run: Response, sessionId: string, id: string): Response {
  const outputItems = run.outputItems.filter((item) => item.id !== noticeId(run.id));
  return { ...run, id, turnId: id, sessionId, outputItems };
}
