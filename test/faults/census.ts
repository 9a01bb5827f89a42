import { setTimeout } from 'node:timers/promises';
import { descendants, type Entry, keyOf, readTable } from './process-table.ts';

/** How long processes may take to end on a busy machine, ms. */
const patience = 30_000;

/**
 * Who runs that belongs to a test (invariant 8): who descends from its servers, now or whenever it was looked at, who
 * bears a word of the test's own in its command, its environment or the folder it works in, and what descends from
 * those. What ran before the test does not count.
 */
export class Census {
  readonly #before = new Set(readTable().map(keyOf));
  readonly #words: string[];
  readonly #known = new Set<string>();

  constructor(words: readonly string[]) {
    this.#words = [...words];
  }

  /** Adds a word that only this test's processes bear. */
  add(word: string): void {
    this.#words.push(word);
  }

  /** All that run now. What has once been counted stays known, whatever becomes of its parents. */
  take(): Entry[] {
    const table = readTable(this.#before);
    const ours = table.filter((entry) => this.#known.has(keyOf(entry)) || this.#bears(entry));
    const pids = ours.map(({ pid }) => pid);
    const all = [...ours, ...descendants(table, pids)];
    for (const entry of all) this.#known.add(keyOf(entry));
    return all;
  }

  /** Those whose command holds `word`. */
  withCommand(word: string): Entry[] {
    return this.take().filter(({ command }) => command.includes(word));
  }

  /** Resolves when the process table is what it was before; says who is left when that takes too long. */
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

  /** For the end of a test that went wrong: leaves nothing to those that follow. */
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
    // It went by itself.
  }
}
