import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, type Requests } from '@liminal/client';
import { hideUrlSecrets, thrownMessage } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { Finding } from '../finding.ts';
import type { RunLog } from './run-log.ts';

/** Everything that a check creates and removes again at its end. */
export class Leftovers {
  readonly #requests: Requests;
  #folder: string | undefined;
  #sessionId: string | undefined;
  #log: { log: RunLog; runId: string } | undefined;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Makes a project folder below the first writable root. Throws LiminalError `NO_PROJECT_FOLDER`. */
  async makeFolder(roots: readonly string[]): Promise<string> {
    let why: unknown;
    for (const root of roots) {
      try {
        this.#folder = await realpath(await mkdtemp(join(root, 'liminal-verify-')));
        return this.#folder;
      } catch (error) {
        why = error;
      }
    }
    throw errors.NO_PROJECT_FOLDER.none(roots, thrownMessage(why), { cause: why });
  }

  addSession(sessionId: string): void {
    this.#sessionId = sessionId;
  }

  addRun(log: RunLog, runId: string): void {
    this.#log = { log, runId };
  }

  /** Removes everything that the check created. Reports which parts were removed and which could not be removed. */
  async remove(): Promise<Finding[]> {
    const findings = [await this.#removeSession(), await this.#removeFolder()];
    const failed = findings.filter((finding) => finding !== undefined);
    this.#log?.log.close();
    if (failed.length > 0 || this.#sessionId === undefined) return failed;
    return [{ verdict: 'good', text: 'Deleted the session, its run, and its folder' }];
  }

  async #removeSession(): Promise<Finding | undefined> {
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return undefined;
    try {
      await this.#requests.deleteSession(sessionId);
      await this.#log?.log.remove();
      const left = await this.#remaining(sessionId);
      if (left === undefined) return undefined;
      return bad(`Session ${sessionId} was deleted, but the server still has ${left}.`);
    } catch (error) {
      const message = hideUrlSecrets(thrownMessage(error));
      return bad(
        `Session ${sessionId} could not be deleted: ${message} Once this is fixed, run: ./liminal delete ${sessionId} --yes`,
      );
    }
  }

  async #remaining(sessionId: string): Promise<string | undefined> {
    const runId = this.#log?.runId;
    if (!(await isGone(async () => this.#requests.history(sessionId)))) return 'its history';
    if (runId === undefined) return undefined;
    return (await isGone(async () => this.#requests.getRun(runId))) ? undefined : 'its run';
  }

  async #removeFolder(): Promise<Finding | undefined> {
    if (this.#folder === undefined) return undefined;
    try {
      // Retry, because an agent that is being stopped may still write files.
      await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
      return undefined;
    } catch (error) {
      return bad(`The folder ${this.#folder} could not be removed: ${thrownMessage(error)}.`);
    }
  }
}

async function isGone(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  }
}

const bad = (text: string): Finding => ({ verdict: 'bad', text });
