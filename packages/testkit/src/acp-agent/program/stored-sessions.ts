/** The sessions that the agent stores on disk, where later processes of the same agent find them. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { StoredSession } from '../script.ts';

export class StoredSessions {
  readonly #folder: string;
  readonly #fromBefore: readonly StoredSession[];

  /**
   * @param fromBefore - The sessions that the script itself contains. They are not on disk.
   */
  constructor(folder: string, fromBefore: readonly StoredSession[]) {
    this.#folder = folder;
    this.#fromBefore = fromBefore;
    mkdirSync(this.#path('sessions'), { recursive: true });
    mkdirSync(this.#path('deleted'), { recursive: true });
  }

  /** Newest first. */
  all(): StoredSession[] {
    const own = readdirSync(this.#path('sessions')).map((file): StoredSession =>
      JSON.parse(readFileSync(this.#path('sessions', file), 'utf8')),
    );
    const others = this.#fromBefore.filter(
      ({ sessionId }) => !own.some((session) => session.sessionId === sessionId),
    );
    return [...own, ...others]
      .filter(({ sessionId }) => !existsSync(this.#path('deleted', name(sessionId))))
      .toSorted((one, other) => (other.updatedAt ?? '').localeCompare(one.updatedAt ?? ''));
  }

  find(sessionId: unknown): StoredSession | undefined {
    return this.all().find((session) => session.sessionId === sessionId);
  }

  /** Writes the session atomically, because other processes may read it. */
  save(session: StoredSession): void {
    const saved = { ...session, updatedAt: new Date().toISOString() };
    const draft = this.#path(`draft-${process.pid}`);
    writeFileSync(draft, JSON.stringify(saved));
    renameSync(draft, this.#path('sessions', name(session.sessionId)));
  }

  remove(sessionId: string): void {
    rmSync(this.#path('sessions', name(sessionId)), { force: true });
    writeFileSync(this.#path('deleted', name(sessionId)), '');
  }

  /** Whether a client has ever authenticated. */
  get authenticated(): boolean {
    return existsSync(this.#path('authenticated'));
  }

  set authenticated(value: boolean) {
    if (value) writeFileSync(this.#path('authenticated'), '');
    else rmSync(this.#path('authenticated'), { force: true });
  }

  #path(...parts: string[]): string {
    return join(this.#folder, ...parts);
  }
}

const name = (sessionId: string): string => encodeURIComponent(sessionId);
