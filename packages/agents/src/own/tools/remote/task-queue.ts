/** The methods of the storage's task queue that remote tools use. */

export interface ToolTask {
  taskId: string;
  body: string;
}

export type QueueSide = 'asker' | 'worker';

/** A queue that gives each task to one worker, once, and passes messages between server and worker. */
export interface ToolQueue {
  offer(body: string): Promise<string>;
  take(worker: string, signal: AbortSignal): AsyncIterable<ToolTask>;
  /** Returns whether a worker has taken the task, the task waits for a worker, or no worker is running. */
  stateOf(taskId: string): Promise<'taken' | 'waits' | 'unattended'>;
  sendMessage(taskId: string, from: QueueSide, message: string): Promise<void>;
  follow(taskId: string, from: QueueSide, signal: AbortSignal): AsyncIterable<string>;
  withdraw(taskId: string): Promise<void>;
}

/** The times for which each side waits for the other, in ms. */
export interface RemoteTimeouts {
  /** The time after which the server checks whether there are workers. */
  takenMs: number;
  /** The interval between two `alive` messages of the server or the worker. */
  aliveMs: number;
  /** The time without a message after which the server treats the worker as lost, or the worker the server. */
  silentMs: number;
  /** The time in which a worker must end a cancelled call. */
  stopMs: number;
}

export const defaultTimeouts: RemoteTimeouts = {
  takenMs: 3_000,
  aliveMs: 1_000,
  silentMs: 8_000,
  stopMs: 3_000,
};
