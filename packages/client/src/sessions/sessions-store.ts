import { Emitter } from '../emitter.ts';
import { describeError, isTemporary } from '../http/api-error.ts';
import type { Requests } from '../http/requests.ts';
import { RetryTimer } from '../socket/retry-timer.ts';
import type { LiveSocket } from '../socket/live-socket.ts';
import { onWake } from '../socket/wake.ts';
import { Cell, type Store } from '../store.ts';
import { applySessions, type Projects, sortProjects } from './session-list.ts';

export interface SessionsView {
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly projects: Projects;
  readonly problem?: { code: string; message: string };
}

interface SessionsDeps {
  socket: LiveSocket;
  requests: Requests;
}

/**
 * All projects and sessions, kept up to date. The whole list is read after each connect, and each time that the page
 * becomes visible, because agents also create sessions outside of Liminal.
 */
export class SessionsStore implements Store<SessionsView> {
  readonly subscribe: Store<SessionsView>['subscribe'];
  readonly getSnapshot: Store<SessionsView>['getSnapshot'];
  /** Emits the ids of deleted sessions before the view is changed. */
  readonly removed = new Emitter<readonly string[]>();
  readonly #cell = new Cell<SessionsView>({ phase: 'loading', projects: [] });
  readonly #deps: SessionsDeps;
  readonly #stopListening: () => void;
  readonly #retryTimer = new RetryTimer(() => {
    if (this.#deps.socket.status.state === 'open') void this.refresh();
  });

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.subscribe = this.#cell.subscribe;
    this.getSnapshot = this.#cell.getSnapshot;
    deps.socket.opened.on(() => void this.refresh());
    this.#stopListening = onWake(() => {
      if (deps.socket.status.state === 'open') void this.refresh();
    });
    deps.socket.messages.on((message) => {
      if (message.type !== 'sessions:changed') return;
      if (message.removed !== undefined) this.removed.emit(message.removed);
      this.#cell.update((view) => ({
        ...view,
        projects: applySessions(view.projects, message.sessions, message.removed),
      }));
    });
  }

  /** Closes the store permanently. */
  close(): void {
    this.#stopListening();
    this.#retryTimer.cancel();
  }

  /**
   * Reads the whole list again, including sessions that agents have stored since the last time. Never rejects: the view
   * shows a failure, and after a temporary failure the store tries again.
   */
  async refresh(): Promise<void> {
    try {
      const projects = await this.#deps.requests.listProjects();
      this.#retryTimer.reset();
      this.#cell.set({ phase: 'ready', projects: sortProjects(projects) });
    } catch (error) {
      const problem = describeError(error);
      if (isTemporary(problem.code)) this.#retryTimer.schedule();
      this.#cell.update((view) =>
        view.phase === 'ready' ? view : { ...view, phase: 'failed', problem },
      );
    }
    // Subscribe only after the list was read, so that later changes are applied to that list.
    this.#deps.socket.send({ type: 'sessions:subscribe' });
  }
}
