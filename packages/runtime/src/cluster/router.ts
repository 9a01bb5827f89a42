import { setTimeout as delay } from 'node:timers/promises';
import { LiminalError } from '@liminal/protocol';
import { RuntimeError } from '../errors.ts';
import { type CommandRequest, type Commands, runCommand } from './commands.ts';
import { type Messenger, NotHeard } from './messenger.ts';
import type { OwnedSessions } from './owned-sessions.ts';
import type { Ownership } from './ownership.ts';

interface RouterOptions {
  ownership: Ownership;
  owned: OwnedSessions;
  messenger: Messenger;
  /** The runtime of the sessions that this server owns. */
  runtime: Commands;
}

/** How long a command may take, in ms: an agent's start is part of some. */
const COMMAND_MS = 120_000;
/** How often to check that a command's session still has the owner that was asked, in ms. */
const LOOK_MS = 500;

/** The session had another owner before the command was answered. */
class OwnerChanged extends Error {}

/**
 * Brings each command to the session's owner: to this server if the session has none. If the owner dies before it has
 * answered, the next owner is asked; every command can be asked twice.
 */
export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** Rejects as the command does, or with `OWNER_UNREACHABLE`. */
  async run(request: CommandRequest): Promise<unknown> {
    const { sessionId } = request;
    const giveUp = AbortSignal.timeout(COMMAND_MS);
    while (!giveUp.aborted) {
      const here = await this.answer(request);
      if (here) return here.value;
      const owner = await this.#options.ownership.ownerOf(sessionId);
      const there = owner !== undefined && (await this.#ask(owner, request, giveUp));
      if (there) return there.value;
      await delay(LOOK_MS / 10);
    }
    throw new RuntimeError(
      'OWNER_UNREACHABLE',
      `The server that runs session ${sessionId} did not answer. It may have done what was asked: look before you try again.`,
    );
  }

  /** Runs a command here; undefined if another server owns the session. */
  async answer(request: CommandRequest): Promise<{ value: unknown } | undefined> {
    const { owned, runtime } = this.#options;
    try {
      return await owned.act(request.sessionId, async () => runCommand(runtime, request));
    } catch (error) {
      // This server believed that it was the owner: the store knows better.
      if (error instanceof LiminalError && error.code === 'STALE_OWNER') return undefined;
      throw error;
    }
  }

  /** Asks the owner; undefined if it is no longer the owner. */
  async #ask(
    owner: string,
    request: CommandRequest,
    giveUp: AbortSignal,
  ): Promise<{ value: unknown } | undefined> {
    const answered = new AbortController();
    const changed = this.#watch(request.sessionId, owner, answered.signal);
    try {
      const signal = AbortSignal.any([changed, giveUp]);
      return { value: await this.#options.messenger.ask(owner, request, signal) };
    } catch (error) {
      if (error instanceof NotHeard || error instanceof OwnerChanged) return undefined;
      if (error instanceof LiminalError && error.code === notOwner) return undefined;
      if (giveUp.aborted) return undefined;
      throw error;
    } finally {
      answered.abort();
    }
  }

  /** Aborts when the session has another owner, or none. */
  #watch(sessionId: string, owner: string, answered: AbortSignal): AbortSignal {
    const changed = new AbortController();
    const look = async (): Promise<void> => {
      while (!answered.aborted) {
        await delay(LOOK_MS, undefined, { signal: answered, ref: false }).catch(() => undefined);
        if (answered.aborted) return;
        const now = await this.#options.ownership.ownerOf(sessionId).catch(() => owner);
        if (now !== owner) return changed.abort(new OwnerChanged());
      }
    };
    void look();
    return changed.signal;
  }
}

/** The code with which a server refuses a command for a session that it does not own. */
export const notOwner = 'NOT_OWNER';
