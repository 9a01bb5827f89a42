import { setTimeout } from 'node:timers/promises';
import { descendants, type Entry, keyOf, readTable } from './process-table.ts';

/** How long processes may take to end on a busy machine, in ms. */
const patience = 30_000;

/**
 * Finds the processes that belong to a test (invariant 8): descendants of the test's servers, now or at any earlier
 * check; processes whose command, environment or folder contains a word of the test; and descendants of all these
 * processes. Processes that ran before the test are left out.
 */
export class Census {
  readonly #before = new Set(readTable().map(keyOf));
  readonly #words: string[];
  readonly #known = new Set<string>();

  constructor(words: readonly string[]) {
    this.#words = [...words];
  }

  /** Adds a word that occurs only in processes of this test. */
  add(word: string): void {
    this.#words.push(word);
  }

  /**
   * Returns all processes of the test that run now. A process that was found once is found again, even if its parents
   * have ended.
   */
  take(): Entry[] {
    const table = readTable(this.#before);
    const ours = table.filter((entry) => this.#known.has(keyOf(entry)) || this.#bears(entry));
    const pids = ours.map(({ pid }) => pid);
    const all = [...ours, ...descendants(table, pids)];
    for (const entry of all) this.#known.add(keyOf(entry));
    return all;
  }

  /** Returns the processes whose command contains `word`. */
  withCommand(word: string): Entry[] {
    return this.take().filter(({ command }) => command.includes(word));
  }

  /**
   * Resolves when all processes of the test have ended. If this takes too long, rejects with the processes that still
   * run.
   */
  async untilEmpty(): Promise<void> {
    const deadline = performance.now() + patience;
    for (let left = this.take(); left.length > 0; left = this.take()) {
      if (performance.now() > deadline) {
        const who = left.map(({ pid, command }) => `${pid} ${command}`);
        throw new Error(`Still running: ${who.join(', ')}`);
      }
      await setTimeout(20);
    }
  }

  /** Ends all processes of a failed test, so that later tests are not affected. */
  async endAll(): Promise<void> {
    for (let left = this.take(); left.length > 0; left = this.take()) {
      for (const { pid } of left) end(pid);
      await setTimeout(20);
    }
  }

  #bears({ pid, command, environ, folder }: Entry): boolean {
    if (pid === process.pid) return false;
    return this.#words.some((word) => [command, environ, folder].some((at) => at.includes(word)));
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // This happens if the process has ended by itself.
  }
}
