import type { ClientFiles, ClientTerminals } from '@liminal/agents';
import type { AttachedClient } from '../api.ts';
import { errors, errorCode, errorMessage } from '../errors.ts';

/** The error code with which a client refuses a request, without having done any part of it. */
const refusalCode = 'CLIENT_REFUSED';

/** How long a client may take to read or to write, in ms. */
const readMs = 5_000;
const writeMs = 30_000;
/** How long a client may take to start a program, in ms. */
const startMs = 30_000;

/** The clients of this server that are attached to its sessions. Clients attach and detach while agents run. */
export class AttachedClients {
  readonly #clients = new Map<string, AttachedClient[]>();

  /** Returns a function that detaches the client. */
  add(sessionId: string, client: AttachedClient): () => void {
    this.#clients.set(sessionId, [...this.#of(sessionId), client]);
    return () => {
      const left = this.#of(sessionId).filter((one) => one !== client);
      if (left.length > 0) this.#clients.set(sessionId, left);
      else this.#clients.delete(sessionId);
    };
  }

  /**
   * The files of a session's clients, for the session's agent. Asks first the client that began the running turn, then
   * the client that attached last. If a client does not answer a read, the next client is asked; a write is not
   * repeated at another client. A client that cannot read files gets no writes: the agent would not know the client's
   * unsaved text, and a write would overwrite that text.
   */
  files(sessionId: string, turnId: () => string | undefined): ClientFiles {
    const inOrder = (): AttachedClient[] => {
      const [now, clients] = [turnId(), this.#of(sessionId).toReversed()];
      if (now === undefined) return clients;
      return clients.toSorted((a, b) => Number(b.startedTurn(now)) - Number(a.startedTurn(now)));
    };
    return {
      read: async (path, part = {}) => {
        for (const { readText } of inOrder()) {
          const text = await readText?.(path, part, AbortSignal.timeout(readMs)).catch(noText);
          if (text !== undefined) return text;
        }
        return undefined;
      },
      write: async (path, text) => {
        const able = inOrder().find(({ readText, writeText }) => readText && writeText);
        if (able === undefined) return false;
        await able
          .writeText?.(path, text, AbortSignal.timeout(writeMs))
          .catch((error: unknown) => fail(path, error));
        return true;
      },
    };
  }

  /**
   * Returns the terminals of a session's clients, for its agent: only the client that began the turn runs programs,
   * because other users do not expect programs on their machines.
   */
  terminals(sessionId: string, turnId: () => string | undefined): ClientTerminals {
    return {
      create: async (request) => {
        const now = turnId();
        const able = this.#of(sessionId).findLast(
          (client) => client.runProgram && now !== undefined && client.startedTurn(now),
        );
        return able?.runProgram?.(request, AbortSignal.timeout(startMs)).catch((error: unknown) => {
          throw errors.CLIENT_REFUSED.program(request.command, errorMessage(error));
        });
      },
    };
  }

  #of(sessionId: string): readonly AttachedClient[] {
    return this.#clients.get(sessionId) ?? [];
  }
}

const noText = (): undefined => undefined;

function fail(path: string, error: unknown): never {
  const why = errorMessage(error);
  if (errorCode(error) === refusalCode) throw errors.CLIENT_REFUSED.write(path, why);
  throw errors.CLIENT_SILENT.write(path, why);
}
