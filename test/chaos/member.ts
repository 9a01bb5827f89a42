import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Wire } from './wire.ts';

/** The settings of `server.ts`. */
export interface MemberSettings {
  role: 'server' | 'projector';
  /** Whether a server also projects runs into history. */
  projects: boolean;
  redisUrl: string;
  prefix: string;
  databaseUrl: string;
  schema: string;
  leaseMs: number;
  /** The folder of this test. */
  root: string;
  token: string;
  port: number;
}

/** A member's own connections to the shared services. The member can be cut off from each of these services. */
export interface Ways {
  redis: Wire;
  database: Wire;
}

const program = fileURLToPath(new URL('server.ts', import.meta.url));
/** The delay between two attempts to start while Redis or the database is unreachable, in ms. */
const retryMs = 150;
/** How much of each process's output is kept, in characters. */
const logMax = 5_000_000;

/** A process that can be ended in every way. After a restart, the process uses the same port. */
export class Member {
  readonly name: string;
  readonly settings: MemberSettings;
  readonly #ways: Ways | undefined;
  #child: ChildProcess | undefined;
  #coming: Promise<void> | undefined;
  #gone = false;
  /** Whether the process runs and was not asked to end. */
  #isReady = false;
  /** How often the process ended unexpectedly, or with an error. */
  crashes = 0;
  /** The newest output of the process, from all its runs. */
  log = '';

  constructor(name: string, settings: MemberSettings, ways?: Ways) {
    this.name = name;
    this.settings = settings;
    this.#ways = ways;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.settings.port}`;
  }

  /** Resolves when the process runs. Retries until this succeeds. */
  async start(): Promise<void> {
    this.#coming ??= this.#startUntilReady().finally(() => {
      this.#coming = undefined;
    });
    await this.#coming;
  }

  /** Kills the process at once. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the process in an orderly way. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    if (this.#child?.exitCode !== 0) this.crashes += 1;
  }

  /** Suspends the process for some time. */
  async freeze(ms: number): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    await delay(ms);
    child?.kill('SIGCONT');
  }

  /** Cuts off only this process from these services for some time. */
  async cutOff(from: readonly (keyof Ways)[], ms: number): Promise<void> {
    await Promise.all(from.map(async (service) => this.#ways?.[service].sever(ms)));
  }

  /** Ends the process permanently. */
  async leave(): Promise<void> {
    this.#gone = true;
    await this.#coming;
    await this.stop();
    await Promise.all([this.#ways?.redis.close(), this.#ways?.database.close()]);
  }

  async #startUntilReady(): Promise<void> {
    while (!this.#gone) {
      if (await this.#startOnce()) return;
      await delay(retryMs);
    }
  }

  async #startOnce(): Promise<boolean> {
    const child = spawn(process.execPath, [program], {
      env: {
        PATH: process.env['PATH'],
        CHAOS: JSON.stringify(this.settings),
        // The process starts twice as fast from its second run on.
        NODE_COMPILE_CACHE:
          process.env['NODE_COMPILE_CACHE'] ?? join(this.settings.root, 'compiled'),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    const note = (chunk: Buffer): void => {
      this.log = (this.log + chunk.toString()).slice(-logMax);
    };
    child.stderr.on('data', note);
    const ready = new Promise<boolean>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('ready')) resolve(true);
      });
      child.once('exit', () => {
        if (this.#isReady && this.#child === child) this.crashes += 1;
        resolve(false);
      });
    });
    this.#isReady = await ready;
    return this.#isReady;
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    this.#isReady = false;
    child.kill(signal);
    await exited;
  }
}
