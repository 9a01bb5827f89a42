import { setTimeout as delay } from 'node:timers/promises';
import { LiminalError } from '@liminal/protocol';
import { errors } from '../errors.ts';
import { type CommandRequest, type RunCommand, runCommand } from '../commands.ts';
import { type Messenger, NotListeningError } from './messenger.ts';
import type { OwnedSessions } from './owned-sessions.ts';
import type { Ownership } from './ownership.ts';

interface RouterOptions {
  ownership: Ownership;
  owned: OwnedSessions;
  messenger: Messenger;
  /** Runs a command for a session that this server owns. */
  run: RunCommand;
}

/** How long a command may take, in ms; some commands include an agent's start. */
const commandMs = 120_000;
/** How often to check whether the asked server still owns the session, in ms. */
const lookMs = 500;

/** Commands that only end or stop something. */
const stops: ReadonlySet<CommandRequest['command']> = new Set(['cancel', 'kill', 'stopTask']);

/** The session's owner changed before the command was answered. */
class OwnerChanged extends Error {}

/**
 * Routes each command to the session's owner. If the session has no owner, this server becomes its owner. If the owner
 * dies before it answers, the next owner is asked: every command can be sent twice.
 */
export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** Rejects with the command's error, or with `OWNER_UNREACHABLE`. */
  async run(request: CommandRequest): Promise<unknown> {
    const { sessionId } = request;
    const giveUp = AbortSignal.timeout(commandMs);
    while (!giveUp.aborted) {
      const here = await this.#runHere(request);
      if (here) return here.value;
      const owner = await this.#options.ownership.ownerOf(sessionId);
      const there = owner !== undefined && (await this.#ask(owner, request, giveUp));
      if (there) return there.value;
      await delay(lookMs / 10);
    }
    throw errors.OWNER_UNREACHABLE.silent(sessionId);
  }

  /**
   * Runs a command from another server; resolves with undefined if this server no longer owns the session. For such a
   * command, this server does not take a session without an owner: the command may be old, and the asking server may
   * have run the command itself by now.
   */
  async answer(request: CommandRequest): Promise<{ value: unknown } | undefined> {
    const { owned } = this.#options;
    return this.#here(async () =>
      owned.actAsOwner(request.sessionId, async () => this.#perform(request)),
    );
  }

  /** Runs a command on this server, if this server owns the session or can take it. */
  async #runHere(request: CommandRequest): Promise<{ value: unknown } | undefined> {
    const { owned } = this.#options;
    return this.#here(async () => owned.act(request.sessionId, async () => this.#perform(request)));
  }

  /**
   * Throws `STALE_OWNER` if another server has taken the session in the meantime, for example while this server was
   * suspended.
   */
  async #perform(request: CommandRequest): Promise<unknown> {
    const { ownership, run } = this.#options;
    const { sessionId, command } = request;
    const isOurs = ownership.holds(sessionId).catch((error: unknown) => {
      // Users can stop a turn even while Redis is unreachable.
      if (stops.has(command)) return true;
      throw error;
    });
    if (!(await isOurs)) throw errors.STALE_OWNER.givenUp();
    return runCommand(run, request);
  }

  async #here(
    run: () => Promise<{ value: unknown } | undefined>,
  ): Promise<{ value: unknown } | undefined> {
    try {
      return await run();
    } catch (error) {
      // This server believed that it was the owner, but the store shows another owner.
      if (error instanceof LiminalError && error.code === 'STALE_OWNER') return undefined;
      throw error;
    }
  }

  /** Sends the command to the owner; resolves with undefined if the owner has lost the session. */
  async #ask(
    owner: string,
    request: CommandRequest,
    giveUp: AbortSignal,
  ): Promise<{ value: unknown } | undefined> {
    const answered = new AbortController();
    const changed = this.#watch(request.sessionId, owner, answered.signal);
    try {
      const signal = AbortSignal.any([changed, giveUp]);
      return { value: await this.#options.messenger.request(owner, request, signal) };
    } catch (error) {
      if (error instanceof NotListeningError || error instanceof OwnerChanged) return undefined;
      if (error instanceof LiminalError && error.code === notOwner) return undefined;
      if (giveUp.aborted) return undefined;
      throw error;
    } finally {
      answered.abort();
    }
  }

  /** Returns a signal that aborts when the session's owner has changed. */
  #watch(sessionId: string, owner: string, answered: AbortSignal): AbortSignal {
    const changed = new AbortController();
    const look = async (): Promise<void> => {
      while (!answered.aborted) {
        await delay(lookMs, undefined, { signal: answered, ref: false }).catch(() => undefined);
        if (answered.aborted) return;
        const now = await this.#options.ownership.ownerOf(sessionId).catch(() => owner);
        if (now !== owner) return changed.abort(new OwnerChanged());
      }
    };
    void look();
    return changed.signal;
  }
}

/** The code with which a server rejects a command for a session that it does not own. */
export const notOwner = 'NOT_OWNER';
