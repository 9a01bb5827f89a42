/** The test's control of a scripted agent: all processes of the agent, and the messages that they have received. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { AgentProcess } from './agent-process.ts';
import type { Report } from './program/test-connection.ts';
import { AgentScript } from './script.ts';
import { Waiting } from './waiting.ts';
import { readLines } from './program/wire.ts';

const JsonRpc = z.looseObject({
  id: z.unknown().optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).default({}),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/**
 * A message that a process received on one line: a request, a notification, or the answer to a request of the process.
 */
export type Received = z.infer<typeof JsonRpc> & { pid: number; line: string };

/** Selects a message: by its method, or by a predicate. */
export type Match = string | ((message: Received) => boolean);

export class AcpAgentControl {
  /** Every message that any process has received, in the order of arrival. */
  readonly received: Received[] = [];
  /** Every process that was started, in the order of the starts, including processes that have ended. */
  readonly processes: AgentProcess[] = [];
  readonly #folder: string;
  readonly #server: Server;
  readonly #waiting = new Waiting();
  readonly #open = new Set<string>();
  readonly #reached = new Map<string, AgentProcess>();
  #isClosed = false;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer((socket) => void this.#readReports(socket));
  }

  /** Listens in `folder` for the processes that will play the script. */
  static async listen(folder: string, script: AgentScript): Promise<AcpAgentControl> {
    const control = new AcpAgentControl(folder);
    await control.play(script);
    control.#server.listen(join(folder, 'control'));
    await once(control.#server, 'listening');
    return control;
  }

  /** Replaces the script for processes that start after this call. */
  async play(script: AgentScript): Promise<void> {
    await writeFile(join(this.#folder, 'script.json'), JSON.stringify(AgentScript.parse(script)));
  }

  /** Resolves with the first message that matches, past or future. */
  until(match: Match): Promise<Received> {
    return this.#waiting.until(() =>
      this.received.find((message) =>
        typeof match === 'string' ? message.method === match : match(message),
      ),
    );
  }

  /** Resolves with the process that has this index (0 is the first), past or future. */
  process(place = 0): Promise<AgentProcess> {
    return this.#waiting.until(() => this.processes[place]);
  }

  /** Resolves with the process that waits, or has waited, at this gate. */
  reached(gate: string): Promise<AgentProcess> {
    return this.#waiting.until(() => this.#reached.get(gate));
  }

  /** Opens this gate for every process, also for a process that reaches the gate later. */
  open(gate: string): void {
    this.#open.add(gate);
    for (const one of this.processes) one.order({ type: 'open', gates: [gate] });
  }

  /** Makes the newest process write `message` to its stdout at once: a string unchanged, any other value as JSON. */
  write(message: unknown): void {
    this.#newest().write(message);
  }

  /** Ends the newest process in the same way as `kill -9`. */
  crash(): Promise<void> {
    return this.#newest().crash();
  }

  /**
   * Resolves with the ids of the first `count` programs that the agents have started, as soon as that many have
   * started.
   */
  children(count = 1): Promise<number[]> {
    return this.#waiting.until(() => {
      const pids = this.processes.flatMap((one) => one.children);
      return pids.length < count ? undefined : pids.slice(0, count);
    });
  }

  /** Ends the processes that are still running and the programs that they have started, and deletes their sessions. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.processes.map((one) => one.crash()));
    for (const pid of this.processes.flatMap((one) => one.children))
      if (isChild(pid, this.#folder)) process.kill(pid, 'SIGKILL');
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #newest(): AgentProcess {
    const newest = this.processes.at(-1);
    if (newest === undefined) throw new Error('No process of the scripted agent has started yet.');
    return newest;
  }

  async #readReports(socket: Socket): Promise<void> {
    let from: AgentProcess | undefined;
    try {
      for await (const line of readLines(socket)) {
        const report: Report = JSON.parse(line);
        if (report.type === 'started') from = this.#started(report.pid, socket);
        else if (from !== undefined) this.#handleReport(report, from);
        this.#waiting.notify();
      }
    } catch (error) {
      // A killed process may leave data that was not read yet.
      if (!(error instanceof Error && 'syscall' in error)) throw error;
    }
  }

  #started(pid: number, socket: Socket): AgentProcess {
    const started = new AgentProcess(pid, socket);
    started.order({ type: 'open', gates: [...this.#open] });
    this.processes.push(started);
    // This process connected only after `close` had ended the other processes.
    if (this.#isClosed) void started.crash();
    return started;
  }

  #handleReport(report: Exclude<Report, { type: 'started' }>, from: AgentProcess): void {
    switch (report.type) {
      case 'received':
        return void this.received.push({ ...parse(report.line), pid: from.pid, line: report.line });
      case 'reached':
        return void this.#reached.set(report.gate, from);
      case 'spawned':
        return void from.children.push(report.pid);
    }
  }
}

/**
 * Whether a program of an agent of this folder still has the pid. A pid alone does not prove this, because the system
 * reuses pids.
 */
function isChild(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SCRIPTED_AGENT=${folder}\0`);
  } catch {
    return false;
  }
}

function parse(line: string): z.infer<typeof JsonRpc> {
  try {
    return JsonRpc.parse(JSON.parse(line));
  } catch {
    return { params: {} };
  }
}
