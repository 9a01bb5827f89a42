import type { ClientFiles, ClientTerminals } from '@liminal/agents';
import { LiminalError } from '@liminal/protocol';
import type { AttachedClient } from '../api.ts';
import { errorCode, errorMessage } from '../errors.ts';

/** The code with which a client says that it has done nothing. */
const refusal = 'CLIENT_REFUSED';

/** How long a client may take to read, and to write, ms. */
const readMs = 5_000;
const writeMs = 30_000;
/** How long it may take to start a program, ms. */
const startMs = 30_000;

/** The clients of this server that are attached to its sessions. They come and go while agents run. */
export class AttachedClients {
  readonly #clients = new Map<string, AttachedClient[]>();

  /** Returns how it leaves. */
  add(sessionId: string, client: AttachedClient): () => void {
    this.#clients.set(sessionId, [...this.#of(sessionId), client]);
    return () => {
      const left = this.#of(sessionId).filter((one) => one !== client);
      if (left.length > 0) this.#clients.set(sessionId, left);
      else this.#clients.delete(sessionId);
    };
  }

  /**
   * A session's clients as its agent reaches them: whoever began the turn that runs first, then the one that came last.
   * What is read goes on to the next if one does not answer; what is written does not. A client that cannot be read is
   * not written to, either: what it has open would be lost.
   */
  files(sessionId: string, turnId: () => string | undefined): ClientFiles {
    const inOrder = (): AttachedClient[] => {
      const [now, clients] = [turnId(), this.#of(sessionId).toReversed()];
      if (now === undefined) return clients;
      return clients.toSorted((a, b) => Number(b.asked(now)) - Number(a.asked(now)));
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

  /** A program runs with the client whose person began the turn: nobody else expects one to run with them. */
  terminals(sessionId: string, turnId: () => string | undefined): ClientTerminals {
    return {
      create: async (request) => {
        const now = turnId();
        const able = this.#of(sessionId).findLast(
          (client) => client.runProgram && now !== undefined && client.asked(now),
        );
        return able?.runProgram?.(request, AbortSignal.timeout(startMs)).catch((error: unknown) => {
          const message = `The editor did not run “${request.command}”: ${errorMessage(error)}`;
          throw new LiminalError(refusal, message);
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
  if (errorCode(error) === refusal) {
    throw new LiminalError(refusal, `The editor did not write “${path}”: ${why}`);
  }
  const message = `Whether “${path}” was written is not known: the editor did not say (${why}). Read it again.`;
  throw new LiminalError('CLIENT_SILENT', message);
}
