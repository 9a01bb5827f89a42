import type { BackgroundTask } from '@liminal/protocol';
import { messageOf } from '@liminal/protocol';
import { isoNow as now } from '../base/iso-clock.ts';
import { isRecord } from '../base/parse-line.ts';
import type { SessionOutput } from '../driver.ts';
import { ProviderError, taskNotFound } from '../errors.ts';
import type { AppServer, OpenThread } from './app-server.ts';
import { BackgroundCommands } from './translate/background-commands.ts';
import { Tasks } from './translate/tasks.ts';
import type { CodexTurn, TurnCommand } from './translate/turn.ts';

type Params = Record<string, unknown>;

/** How often it is told what commands beside the turns print, ms. */
const progressMs = 1_000;

/**
 * What may run beside a session's turns: commands that have outlived theirs, and tasks, each in a thread of its own. Tells
 * what runs, and stops it.
 */
export class BackgroundWork {
  /** For the turns, which show what tasks do. */
  readonly tasks = new Tasks();
  readonly #server: AppServer;
  readonly #output: Pick<SessionOutput, 'update'>;
  readonly #commands = new BackgroundCommands();
  /** Codex' own ids of the session's turns, with whether they were stopped. */
  readonly #turns = new Map<string, { isStopped: boolean }>();
  /** Codex' own id of the turn that runs: what runs for it is not beside it. */
  #turnId: string | undefined;
  /** As last told. */
  #told: readonly BackgroundTask[] = [];
  #toldCommands: readonly BackgroundTask[] = [];
  #areTasksOld = false;
  #telling: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(server: AppServer, output: Pick<SessionOutput, 'update'>) {
    this.#server = server;
    this.#output = output;
  }

  /** The threads of tasks. */
  get threads(): OpenThread[] {
    return this.tasks.threads;
  }

  /** Whether a turn is the session's, by Codex' own id of it. */
  owns(turnId: string): boolean {
    return this.#turns.has(turnId);
  }

  /** Whether a turn runs in the thread of a task. */
  isAtWork(threadId: string): boolean {
    return this.tasks.find(threadId) !== undefined;
  }

  /** A turn of the session begins; Codex' own id of it comes later. */
  turnBegins(): void {
    this.#turnId = undefined;
    this.#areTasksOld = true;
  }

  /** Codex names the turn that runs. @param hasStarted - It runs in Codex, too. */
  turnIs(turnId: string, hasStarted: boolean): void {
    this.#turnId = turnId;
    if (hasStarted) this.#turns.set(turnId, { isStopped: false });
  }

  /** The turn that ran has ended, and may have left commands running. */
  turnEnds(left: readonly TurnCommand[]): void {
    // Of a turn that was stopped Codex ends the commands, too.
    const isStopped = this.#turns.get(this.#turnId ?? '')?.isStopped === true;
    if (!isStopped) this.#commands.adopt(left, now());
    this.#turnId = undefined;
    this.#areTasksOld = true;
    this.#tell();
  }

  /** Reads what Codex says of the thread of a task. */
  readTask(threadId: string, method: string, params: Params): void {
    if (this.tasks.read(threadId, method, params, now())) this.#areTasksOld = true;
    if (method !== 'turn/started') return;
    const turn = isRecord(params['turn']) ? params['turn'] : {};
    const { id, rootTurnId } = turn;
    if (this.#turns.get(String(rootTurnId))?.isStopped !== true) return;
    void this.#stopTask({ threadId, turnId: typeof id === 'string' ? id : undefined });
  }

  /** Reads what concerns commands; returns whether it tells how one of them has ended. */
  readCommand(method: string, params: Params): boolean {
    const isEnd = this.#commands.read(method, params);
    this.#tell();
    return isEnd;
  }

  /** Ends a turn in Codex with its tasks, and the commands that it still runs; those of earlier turns go on. */
  async stopTurn(
    own: { threadId: string; turnId: string },
    turn: Pick<CodexTurn, 'commands'>,
  ): Promise<void> {
    // A task may have begun that is not told yet.
    this.#turns.set(own.turnId, { isStopped: true });
    await this.#server.request('turn/interrupt', own);
    for (const task of this.tasks.of(own.turnId)) await this.#stopTask(task);
    const stop = ({ threadId, processId }: TurnCommand): Promise<unknown> =>
      this.#server.tell('thread/backgroundTerminals/terminate', { threadId, processId });
    await Promise.all(turn.commands.map(stop));
  }

  /** `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  async stop(taskId: string): Promise<void> {
    const process = this.#commands.find(taskId);
    const turnId = this.tasks.find(taskId);
    if (process === undefined && turnId === undefined) throw taskNotFound();
    try {
      if (process === undefined) {
        await this.#server.request('turn/interrupt', { threadId: taskId, turnId });
        await this.#server.tell('thread/backgroundTerminals/clean', { threadId: taskId });
      } else await this.#server.request('thread/backgroundTerminals/terminate', process);
    } catch (error) {
      throw new ProviderError('INTERRUPT_FAILED', `Codex did not stop it. ${messageOf(error)}`);
    }
  }

  /** Nothing more is told. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#telling);
  }

  async #stopTask({ threadId, turnId }: OpenThread): Promise<void> {
    if (turnId !== undefined) await this.#server.tell('turn/interrupt', { threadId, turnId });
    await this.#server.tell('thread/backgroundTerminals/clean', { threadId });
  }

  get #beside(): BackgroundTask[] {
    return [...this.#commands.running, ...this.tasks.beside(this.#turnId)];
  }

  /** Tells at once what begins and ends, and from time to time what is printed. */
  #tell(): void {
    if (this.#commands.running === this.#toldCommands && !this.#areTasksOld) return;
    if (this.#beside.length !== this.#told.length) this.#tellNow();
    else this.#telling ??= setTimeout(() => this.#tellNow(), progressMs).unref();
  }

  #tellNow(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (this.#isClosed) return;
    this.#areTasksOld = false;
    this.#toldCommands = this.#commands.running;
    const beside = this.#beside;
    if (beside.length === 0 && this.#told.length === 0) return;
    this.#told = beside;
    this.#output.update({ tasks: beside });
  }
}
