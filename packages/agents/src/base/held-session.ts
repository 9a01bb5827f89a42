import { stat } from 'node:fs/promises';
import {
  type ContentBlock,
  cutText,
  type EventDraft,
  whyNotAccepted,
  withinDepth,
  withinSize,
} from '@liminal/protocol';
import type {
  AgentDriver,
  AgentSession,
  EarlierSession,
  SessionOpening,
  SessionOutput,
} from '../contract/driver.ts';
import { errors, type OptionalMethod, ProviderError } from '../contract/errors.ts';
import type { SessionUpdate } from '../contract/provider.ts';
import { Semaphore } from '../contract/semaphore.ts';
import { onlyText } from './accepted-content.ts';
import { BoundedMap } from '@liminal/protocol';

/**
 * How many ended sessions are remembered; to open an older session again, the caller must pass the session's folder and
 * the agent's own id for the session.
 */
const maxEnded = 1_000;
const defaultStarts = 2;

/** The data needed to open a session again. */
interface EndedSession {
  projectDir: string;
  agentSessionId: string | undefined;
  memory: unknown;
}

/** Without a folder, the folder of the session's last opening is used, or the driver searches for the session. */
export type OpenOptions = Omit<
  SessionOpening,
  'sessionId' | 'projectDir' | 'config' | 'earlier' | 'output' | 'signal'
> & {
  projectDir?: string | undefined;
  config?: Record<string, string> | undefined;
};

/** The sessions of one agent type on this server. */
export class AgentSessions {
  readonly driver: AgentDriver;
  readonly starts: Semaphore;
  readonly ended = new BoundedMap<string, EndedSession>(maxEnded);
  /** The sessions that are open or being opened, or have a listener. */
  readonly #held = new Map<string, HeldSession>();

  constructor(driver: AgentDriver) {
    this.driver = driver;
    this.starts = driver.starts ?? new Semaphore(defaultStarts);
  }

  /** Returns a session, open or not. */
  get(sessionId: string): HeldSession {
    return this.#held.get(sessionId) ?? new HeldSession(this, sessionId);
  }

  keep(held: HeldSession): void {
    this.#held.set(held.sessionId, held);
  }

  forget(held: HeldSession): void {
    if (this.#held.get(held.sessionId) === held) this.#held.delete(held.sessionId);
  }

  /** Ends all sessions, and releases the driver's other resources. */
  async close(): Promise<void> {
    const held = [...this.#held.values()];
    await Promise.all(held.map((session) => session.abortOpening()));
    await Promise.all([this.driver.close?.(), ...held.map((session) => session.end())]);
    this.#held.clear();
  }
}

interface RunningSession {
  session: AgentSession;
  projectDir: string;
  /** Set once the session is being closed: `isAlive` must be false even if the driver's session still reports true. */
  isClosing?: true;
}

/**
 * One session of an agent, which may be opened and ended several times. At most one agent runs for the session at a
 * time. Limits the size of everything that the agent emits, and passes the limited values to the listener.
 */
export class HeldSession {
  readonly sessionId: string;
  readonly #agents: AgentSessions;
  #listener: SessionOutput | undefined;
  /** Shared by all callers that wait for the opening. Ending the session aborts the opening. */
  #opening: { opened: Promise<void>; abort: AbortController } | undefined;
  /** A crashed session stays here until the session is ended or opened again. */
  #running: RunningSession | undefined;
  /** Updates that wait until the session is open. */
  #waiting: SessionUpdate | undefined;

  constructor(agents: AgentSessions, sessionId: string) {
    this.#agents = agents;
    this.sessionId = sessionId;
  }

  /** The open session, which may have crashed; undefined if the session is not open. */
  get session(): AgentSession | undefined {
    return this.#running?.session;
  }

  get isOpening(): boolean {
    return this.#opening !== undefined;
  }

  get isAlive(): boolean {
    const running = this.#running;
    return running !== undefined && running.isClosing !== true && running.session.isAlive;
  }

  /** The data for opening the session again; undefined unless the session runs, has crashed, or was ended. */
  get before(): EndedSession | undefined {
    return this.#running ? remembered(this.#running) : this.#agents.ended.get(this.sessionId);
  }

  /** The open session. Throws `SESSION_NOT_FOUND`, or `PROCESS_CRASH` for a session that was ended. */
  get opened(): AgentSession {
    if (this.session) return this.session;
    if (!this.#agents.ended.has(this.sessionId)) throw this.notFound();
    throw errors.PROCESS_CRASH.notRunning(this.#agents.driver.name);
  }

  /** Returns a method of the open session. Throws `NOT_SUPPORTED`, or the same errors as `opened`. */
  method<Name extends Exclude<OptionalMethod, 'fork'>>(
    name: Name,
  ): NonNullable<AgentSession[Name]> {
    const session = this.opened;
    const method: ((...args: never[]) => unknown) | undefined = session[name];
    const missing: OptionalMethod = name;
    if (!method) throw errors.NOT_SUPPORTED[missing](this.#agents.driver.name);
    return method.bind(session) as NonNullable<AgentSession[Name]>;
  }

  /** Throws `CONTENT_NOT_SUPPORTED`, or the same errors as `opened`. */
  checkAccepts(blocks: readonly ContentBlock[]): void {
    const { accepts = onlyText } = this.opened;
    const why = whyNotAccepted(this.#agents.driver.name, accepts, blocks);
    if (why !== undefined) throw errors.CONTENT_NOT_SUPPORTED.because(why);
  }

  /** Sends the session's output to this listener, which replaces an earlier listener. */
  listen(listener: SessionOutput): void {
    this.#listener = listener;
    this.#agents.keep(this);
  }

  /** Does nothing if the session has another listener by now. */
  unlisten(listener: SessionOutput): void {
    if (this.#listener === listener) this.#listener = undefined;
    this.#forgetIfUnused();
  }

  /**
   * Opens the session, or waits for the opening in progress; does nothing if the session is open. Returns whether this
   * call has opened the session.
   */
  async open(options: OpenOptions, earlier?: EarlierSession): Promise<boolean> {
    const joined = this.#opening?.opened;
    if (joined !== undefined || this.isAlive) {
      await joined;
      return false;
    }
    const abort = new AbortController();
    const { signal } = abort;
    const opened = this.#agents.starts
      .run(() => this.#begin(options, earlier, signal), signal)
      .finally(() => {
        this.#opening = undefined;
        this.#forgetIfUnused();
      });
    this.#opening = { opened, abort };
    this.#agents.keep(this);
    await opened;
    return true;
  }

  /** Ends the session and its processes, or aborts the opening in progress. The session can be opened again. */
  async end(): Promise<void> {
    if (this.#opening) await this.abortOpening();
    await this.#close();
  }

  /** Resolves when the opening has ended. The opening may have succeeded before the abort took effect. */
  async abortOpening(): Promise<void> {
    const opening = this.#opening;
    opening?.abort.abort(errors.SESSION_CREATE_FAILED.endedBefore(this.#agents.driver.name));
    await opening?.opened.catch(() => undefined);
  }

  async #begin(
    { projectDir: given, config = {}, ...wanted }: OpenOptions,
    known: EarlierSession | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { driver, ended } = this.#agents;
    const { sessionId, before } = this;
    const agentSessionId = known?.agentSessionId ?? before?.agentSessionId;
    const projectDir =
      given ?? before?.projectDir ?? (await driver.findProjectDir?.(agentSessionId ?? sessionId));
    if (projectDir === undefined) throw this.notFound();
    await checkFolder(projectDir);
    // Close a crashed agent first: a session must never have two running agents.
    await this.#close();
    signal.throwIfAborted();
    const earlier = known && { ...known, agentSessionId, memory: before?.memory };
    const announce = this.#holdUpdates();
    try {
      const opening = { ...wanted, sessionId, projectDir, config, output: this.#output, signal };
      const session = await driver.open({ ...opening, ...(earlier && { earlier }) });
      ended.delete(sessionId);
      this.#running = { session, projectDir };
      const canSteer = session.steer !== undefined;
      this.#output.update({ accepts: session.accepts ?? onlyText, canSteer });
      // Announce the session later, so that the caller can add listeners first.
      setImmediate(() => announce(session.isAlive));
    } catch (error) {
      announce(false);
      throw error;
    }
  }

  /** Closes a running or crashed session, and keeps only the data needed to open the session again. */
  async #close(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.isClosing = true;
    await running.session.close();
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#agents.ended.set(this.sessionId, remembered(running));
    this.#forgetIfUnused();
  }

  readonly #output: SessionOutput = {
    emit: (draft) => this.#listener?.emit(isPlainText(draft) ? draft : withinBounds(draft)),
    update: (update) => {
      const bounded = boundedUpdate(update);
      if (this.#waiting) Object.assign(this.#waiting, bounded);
      else this.#listener?.update(bounded);
    },
    exit: (exit) => this.#listener?.exit(exit),
  };

  /** Holds updates back. The returned function sends the held updates, or drops them if `isWanted` is false. */
  #holdUpdates(): (isWanted: boolean) => void {
    const waiting: SessionUpdate = {};
    this.#waiting = waiting;
    return (isWanted) => {
      if (this.#waiting !== waiting) return;
      this.#waiting = undefined;
      if (isWanted && Object.keys(waiting).length > 0) this.#listener?.update(waiting);
    };
  }

  #forgetIfUnused(): void {
    if (this.#opening || this.#running || this.#listener) return;
    this.#agents.forget(this);
  }

  /** Returns the error for a session that the agent does not have. */
  notFound(): ProviderError {
    return errors.SESSION_NOT_FOUND.unknown(this.#agents.driver.name, this.sessionId);
  }
}

function remembered({ session, projectDir }: RunningSession): EndedSession {
  const { agentSessionId, memory } = session;
  return { projectDir, agentSessionId, memory };
}

/**
 * Throws ProviderError `SESSION_CREATE_FAILED` if the project folder is missing or not a folder: agents report such a
 * folder unclearly.
 */
async function checkFolder(projectDir: string): Promise<void> {
  const found = await stat(projectDir).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const { folderMissing, notFolder } = errors.SESSION_CREATE_FAILED;
  throw (found === undefined ? folderMissing : notFolder)(projectDir);
}

/** Returns whether an event is a plain text delta. Most events are plain text deltas, which have no depth. */
function isPlainText({ payload }: EventDraft): boolean {
  return payload.type === 'item_delta' && payload.patch === undefined;
}

/** Bounds the depth of an event. */
function withinBounds(draft: EventDraft): EventDraft {
  const { payload } = draft;
  const bounded = withinDepth(payload);
  return bounded === payload ? draft : { ...draft, payload: bounded };
}

/** The largest session update (commands, options, notices), in about the characters of its JSON. */
const maxUpdate = 256 * 1024;
/** The most characters of a session's title. */
const maxTitle = 1_000;

/** Limits the size of an update, because every change of the session sends the update's fields to every subscriber. */
function boundedUpdate({ title, ...update }: SessionUpdate): SessionUpdate {
  const bounded = withinSize(withinDepth(update), maxUpdate);
  if (title === undefined) return bounded;
  return { ...bounded, title: title.length > maxTitle ? cutText(title, maxTitle) : title };
}
