import type { BackgroundTask } from '@liminal/protocol';
import { thrownMessage } from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import { isoNow as now } from '../../base/iso-clock.ts';
import { isRecord } from '../../base/parse-line.ts';
import type { SessionOutput } from '../../contract/driver.ts';
import type { AppServer, OpenThread } from './app-server.ts';
import { BackgroundCommands } from './translate/background-commands.ts';
import { Tasks } from './translate/tasks.ts';
import type { CodexTurn, TurnCommand } from './translate/turn.ts';

type Params = Record<string, unknown>;

/** The interval between reports of background output, ms. */
const progressMs = 1_000;

/**
 * The background work of a session: commands that are still running after their turn, and the tasks of subagents. Each
 * task has its own thread. Sends updates about the running work, and can stop it.
 */
export class BackgroundWork {
  /** The session's turns also use the tasks: the turns show the tasks' items. */
  readonly tasks = new Tasks();
  readonly #server: AppServer;
  readonly #output: Pick<SessionOutput, 'update'>;
  readonly #commands = new BackgroundCommands();
  /** The session's turns by Codex' own ids. */
  readonly #turns = new Map<string, { isStopped: boolean }>();
  /** Codex' own id for the running turn. Commands and tasks of this turn are not in the background. */
  #turnId: string | undefined;
  /** As last reported. */
  #reported: readonly BackgroundTask[] = [];
  #reportedCommands: readonly BackgroundTask[] = [];
  #areTasksOld = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(server: AppServer, output: Pick<SessionOutput, 'update'>) {
    this.#server = server;
    this.#output = output;
  }

  /** The open threads of tasks. */
  get threads(): OpenThread[] {
    return this.tasks.threads;
  }

  /** Returns whether a turn belongs to the session, by Codex' own id. */
  owns(turnId: string): boolean {
    return this.#turns.has(turnId);
  }

  /** Returns whether a turn runs in the thread of a task. */
  isAtWork(threadId: string): boolean {
    return this.tasks.find(threadId) !== undefined;
  }

  /** Records that a turn of the session begins. `turnIs` sets Codex' own id for the turn later. */
  turnBegins(): void {
    this.#turnId = undefined;
    this.#areTasksOld = true;
  }

  /** Sets Codex' own id for the running turn. @param hasStarted - Whether Codex has started the turn. */
  turnIs(turnId: string, hasStarted: boolean): void {
    this.#turnId = turnId;
    if (hasStarted) this.#turns.set(turnId, { isStopped: false });
  }

  /** Records that the turn has ended. @param left - Commands of the turn that are still running. */
  turnEnds(left: readonly TurnCommand[]): void {
    // Codex itself ends the commands of a stopped turn.
    const isStopped = this.#turns.get(this.#turnId ?? '')?.isStopped === true;
    if (!isStopped) this.#commands.adopt(left, now());
    this.#turnId = undefined;
    this.#areTasksOld = true;
    this.#report();
  }

  /** Reads a notification about the thread of a task. */
  readTask(threadId: string, method: string, params: Params): void {
    if (this.tasks.read(threadId, method, params, now())) this.#areTasksOld = true;
    if (method !== 'turn/started') return;
    const turn = isRecord(params['turn']) ? params['turn'] : {};
    const { id, rootTurnId } = turn;
    if (this.#turns.get(String(rootTurnId))?.isStopped !== true) return;
    void this.#stopTask({ threadId, turnId: typeof id === 'string' ? id : undefined });
  }

  /** Reads a notification about commands; returns whether the notification reports the end of a background command. */
  readCommand(method: string, params: Params): boolean {
    const isEnd = this.#commands.read(method, params);
    this.#report();
    return isEnd;
  }

  /** Stops a turn in Codex, the turn's tasks and its running commands. Commands of earlier turns keep running. */
  async stopTurn(
    own: { threadId: string; turnId: string },
    turn: Pick<CodexTurn, 'commands'>,
  ): Promise<void> {
    // Record the stop first: Codex may report a task of this turn only after this point.
    this.#turns.set(own.turnId, { isStopped: true });
    await this.#server.request('turn/interrupt', own);
    for (const task of this.tasks.of(own.turnId)) await this.#stopTask(task);
    const stop = ({ threadId, processId }: TurnCommand): Promise<unknown> =>
      this.#server.tryRequest('thread/backgroundTerminals/terminate', { threadId, processId });
    await Promise.all(turn.commands.map(stop));
  }

  /** `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  async stop(taskId: string): Promise<void> {
    const process = this.#commands.find(taskId);
    const turnId = this.tasks.find(taskId);
    if (process === undefined && turnId === undefined) throw errors.TASK_NOT_FOUND.task();
    try {
      if (process === undefined) {
        await this.#server.request('turn/interrupt', { threadId: taskId, turnId });
        await this.#server.tryRequest('thread/backgroundTerminals/clean', { threadId: taskId });
      } else await this.#server.request('thread/backgroundTerminals/terminate', process);
    } catch (error) {
      throw errors.INTERRUPT_FAILED.task('Codex', thrownMessage(error));
    }
  }

  /** Stops reporting. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #stopTask({ threadId, turnId }: OpenThread): Promise<void> {
    if (turnId !== undefined) await this.#server.tryRequest('turn/interrupt', { threadId, turnId });
    await this.#server.tryRequest('thread/backgroundTerminals/clean', { threadId });
  }

  get #beside(): BackgroundTask[] {
    return [...this.#commands.running, ...this.tasks.beside(this.#turnId)];
  }

  /**
   * Sends the list of background work: at once if something has begun or ended, and after an interval for new output.
   */
  #report(): void {
    if (this.#commands.running === this.#reportedCommands && !this.#areTasksOld) return;
    if (this.#beside.length !== this.#reported.length) this.#reportNow();
    else this.#timer ??= setTimeout(() => this.#reportNow(), progressMs).unref();
  }

  #reportNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed) return;
    this.#areTasksOld = false;
    this.#reportedCommands = this.#commands.running;
    const beside = this.#beside;
    if (beside.length === 0 && this.#reported.length === 0) return;
    this.#reported = beside;
    this.#output.update({ tasks: beside });
  }
}
