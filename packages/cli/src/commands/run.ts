import { resolve } from 'node:path';
import { type JoinedTurn, joinTurns, type LiminalClient, type SessionView } from '@liminal/client';
import {
  type ApprovalAnswer,
  type ApprovalUpsert as Approval,
  defaultOption,
  LiminalError,
  thrownMessage,
  projectSettingsCall,
  type UpsertObject,
} from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { type AttachedFile, readAttachments, uploadAttachments } from '../attach.ts';
import { connect } from '../connect.ts';
import { askChoice, canAsk, dropTypedLines, ownTerminal } from '../terminal/ask.ts';
import { askForm } from '../terminal/ask-form.ts';
import { closedPipeExit, outputClosedSignal } from '../terminal/failed-output.ts';
import { jsonLine } from '../terminal/json-line.ts';
import { formatLine } from '../terminal/lines.ts';
import { requestLines } from '../terminal/request-lines.ts';
import { oneRow, withMarkedRows } from '../terminal/rows.ts';
import { TextStream } from '../terminal/text-stream.ts';
import { type TranscriptLine, Transcript } from '../transcript.ts';
import { watch } from '../watch.ts';

export interface RunFlags {
  agent: string;
  dir?: string;
  session?: string;
  /** Paths of additional folders in which the agent may work. */
  addDir?: string[];
  /** The name of a Codex profile; only for a new session. */
  profile?: string;
  /** The id of a model. */
  model?: string;
  /** Config options of the agent, each `id=value`. */
  set?: string[];
  /** Paths of files that are sent with the prompt. */
  attach?: string[];
  /** Print the answer as JSON, one object per line. */
  json?: boolean;
}

/**
 * Sends one prompt. The agent's answer goes to standard output, all other output to standard error. Returns 1 if the
 * turn fails. The command ends when its standard output is closed. On a server that was already running, the turn of
 * the ended command continues.
 */
export async function run(prompt: string, flags: RunFlags, config: Config): Promise<number> {
  const settings = (flags.set ?? []).map(readSetting);
  if (flags.session !== undefined && flags.profile !== undefined) {
    throw errors.INVALID_CONFIG.profileOfSession();
  }
  const files = await readAttachments(flags.attach ?? []);
  if (prompt.trim() === '' && files.length === 0) {
    throw errors.INVALID_CONFIG.empty('prompt');
  }
  const { client, close } = await connect(config);
  try {
    const sessionId = flags.session ?? (await createSession(client, flags));
    const add = flags.addDir?.map((each) => resolve(each)) ?? [];
    if (flags.session !== undefined && add.length > 0) {
      await client.requests.changeDirectories(sessionId, { add });
    }
    if (flags.model !== undefined) {
      const { cliType } = await client.requests.status(sessionId);
      const value = modelValue(flags.model, cliType, config);
      await client.requests.setConfig(sessionId, 'model', value);
    }
    for (const [id, value] of settings) await client.requests.setConfig(sessionId, id, value);
    await watch(client, sessionId, () => true);
    const { turnId } = await sendPrompt(client, sessionId, prompt, files);
    return await new PrintedTurn(client, sessionId, turnId, flags.json ?? false).follow();
  } finally {
    await close();
  }
}

async function sendPrompt(
  { requests }: LiminalClient,
  sessionId: string,
  prompt: string,
  files: readonly AttachedFile[],
) {
  if (files.length === 0) return requests.send(sessionId, prompt);
  const blocks = await uploadAttachments(requests, files);
  return requests.send(sessionId, prompt, undefined, { blocks });
}

async function createSession(client: LiminalClient, flags: RunFlags): Promise<string> {
  const { agent, dir, addDir, profile } = flags;
  const projectDir = resolve(dir ?? process.cwd());
  const additionalDirectories = addDir?.map((each) => resolve(each)) ?? [];
  const options = profile === undefined ? {} : { configOptions: { profile } };
  const wanted = { cliType: agent, projectDir, additionalDirectories, options };
  return (await client.requests.createSession(wanted)).sessionId;
}

/**
 * Returns the id under which the server lists the model. The ids of models on a configured model server begin with that
 * server's name, because an id may itself contain colons.
 */
function modelValue(model: string, cliType: string, { models }: Config): string {
  const isServers = models.some((server) => server.cliType === cliType);
  const isNamed = models.some((server) => model.startsWith(`${server.cliType}:`));
  return isServers && !isNamed ? `${cliType}:${model}` : model;
}

/** Parses `id=value` of `--set`. Throws ConfigError. */
export function readSetting(text: string): [id: string, value: string] {
  const [, id, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (id !== undefined && value !== undefined) return [id, value];
  throw errors.INVALID_CONFIG.setting(text);
}

/** Prints one turn on the terminal. If the server ends and another turn continues this turn, prints that turn too. */
export class PrintedTurn {
  readonly #client: LiminalClient;
  readonly #sessionId: string;
  #turnId: string;
  readonly #isJson: boolean;
  readonly #transcript = new Transcript();
  readonly #text = new TextStream((text) => process.stdout.write(text));
  #activity = '';
  #turn: JoinedTurn | undefined;
  /** The earlier turn that the server made to ask about the project's settings. */
  #questionTurnId: string | undefined;
  /** Lines that are printed only after a question is closed, because nothing may be printed below a question. */
  #lines: TranscriptLine[] = [];
  /** The ids of the requests that are being asked or answered. */
  readonly #asking = new Set<string>();
  /** The request that is shown on the screen. */
  #shownRequest: ShownRequest | undefined;

  constructor(client: LiminalClient, sessionId: string, turnId: string, isJson: boolean) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#turnId = turnId;
    this.#isJson = isJson;
  }

  /** Prints the turn until it ends. Returns the exit code. */
  async follow(): Promise<number> {
    const interrupted = new AbortController();
    const cancel = () => void this.#stop(interrupted).catch(reportError);
    // The first signal stops the turn and removes this handler, so that a second signal ends the process as usual.
    process.once('SIGINT', cancel);
    console.error(`Session ${this.#sessionId}`);
    const outputClosed = outputClosedSignal(process.stdout);
    let exitCode = closedPipeExit;
    const onView = ({ turns, info }: SessionView): boolean => {
      const joined = joinTurns(turns);
      for (;;) {
        const turn = joined.find((each) => each.turnId === this.#turnId);
        if (!turn) {
          this.#askBefore(joined);
          return false;
        }
        this.#endBefore();
        this.#showActivity(info?.activity ?? '');
        this.#read(turn);
        if (turn.status === 'in_progress') return false;
        exitCode = turn.status === 'complete' ? 0 : 1;
        if (turn.continuedBy === undefined) return true;
        this.#turnId = turn.continuedBy;
      }
    };
    await watch(
      this.#client,
      this.#sessionId,
      onView,
      AbortSignal.any([outputClosed, interrupted.signal]),
    );
    if (interrupted.signal.aborted) exitCode = 1;
    this.#closeQuestion();
    this.#print();
    this.#text.breakLine();
    process.off('SIGINT', cancel);
    return exitCode;
  }

  /**
   * Stops the turn and pauses the queue. If the turn has not begun, removes its message from the queue instead, without
   * stopping other turns.
   */
  async #stop(interrupted: AbortController): Promise<void> {
    const { requests } = this.#client;
    const { turns } = this.#client.session(this.#sessionId).getSnapshot();
    if (turns.some(({ turnId }) => turnId === this.#turnId))
      return requests.cancel(this.#sessionId);
    try {
      await requests.removeQueued(this.#sessionId, this.#turnId);
    } catch (error) {
      const hasBegun = error instanceof LiminalError && error.code === 'MESSAGE_NOT_QUEUED';
      if (!hasBegun) throw error;
      return requests.cancel(this.#sessionId);
    }
    console.error('Not sent: the message was removed from the queue.');
    interrupted.abort();
  }

  /** Before the turn begins, the server may ask about the settings of the project folder, in a separate turn. */
  #askBefore(turns: readonly JoinedTurn[]): void {
    for (const turn of turns) {
      const asks = turn.status === 'in_progress' && turn.items.some(isProjectSettings);
      if (!asks && turn.turnId !== this.#questionTurnId) continue;
      this.#questionTurnId = turn.turnId;
      this.#turn = turn;
      for (const line of this.#transcript.read({ turns: [turn] })) {
        if (line.kind === 'turn' || line.item.type !== 'approval') continue;
        if (line.kind === 'item') this.#closed(line.item);
        this.#lines.push(line);
      }
      this.#repeatIfChanged(turn);
      this.#print();
    }
  }

  /** Closes the question of the previous turn, which was answered in this terminal or in another client. */
  #endBefore(): void {
    if (this.#questionTurnId === undefined) return;
    this.#questionTurnId = undefined;
    this.#closeQuestion();
  }

  #read(turn: JoinedTurn): void {
    this.#turn = turn;
    for (const line of this.#transcript.read({ turns: [turn] })) {
      if (line.kind === 'item' && line.item.type === 'approval') this.#closed(line.item);
      // With `--json`, print each line at once, even while a question is open.
      if (this.#isJson && !process.stdout.isTTY) console.log(jsonLine(line));
      this.#lines.push(line);
    }
    this.#repeatIfChanged(turn);
    this.#print();
  }

  #repeatIfChanged(turn: JoinedTurn): void {
    if (this.#shownRequest && isChanged(this.#shownRequest, turn))
      this.#shownRequest.stop.abort(requestChanged);
  }

  /** Closes the question of a request that was answered or withdrawn. */
  #closed({ approvalId, itemId }: Approval): void {
    this.#lines = this.#lines.filter(
      (line) => line.kind !== 'approval' || line.item.itemId !== itemId,
    );
    if (this.#shownRequest?.approval.approvalId === approvalId) this.#closeQuestion();
  }

  #closeQuestion(): void {
    this.#shownRequest?.stop.abort();
    this.#shownRequest = undefined;
  }

  /** Prints new lines, but only up to an open question: a line below a question could look like another question. */
  #print(): void {
    if (this.#shownRequest) return;
    if (!this.#isJson && this.#turn) this.#text.update(this.#turn);
    while (!this.#shownRequest) {
      const line = this.#lines.shift();
      if (line === undefined) return;
      this.#show(line);
    }
  }

  /** Prints the reason why the agent is silent, for example the wait before a retry after an overloaded model. */
  #showActivity(activity: string): void {
    if (activity === this.#activity || this.#shownRequest) return;
    this.#activity = activity;
    if (activity === '') return;
    this.#text.breakLine();
    console.error(oneRow(activity));
  }

  #show(line: TranscriptLine): void {
    if (this.#isJson && process.stdout.isTTY) console.log(jsonLine(line));
    if (line.kind === 'approval') return void this.#ask(line.item);
    if (this.#isJson) return;
    // The agent's messages were already streamed, and the person has just typed their own messages.
    if (line.kind === 'item' && line.item.type === 'message') return;
    const text = formatLine(line);
    if (text === '') return;
    this.#text.breakLine();
    console.error(text);
  }

  /**
   * Asks a request unless the request is already on the screen: a turn that continues another turn repeats that turn's
   * open requests.
   */
  async #ask(approval: Approval): Promise<void> {
    const { approvalId } = approval;
    if (this.#asking.has(approvalId)) return;
    this.#asking.add(approvalId);
    this.#text.breakLine();
    try {
      await this.#decide(approval);
    } catch (error) {
      reportError(error);
    } finally {
      this.#asking.delete(approvalId);
      if (this.#shownRequest?.approval.approvalId === approvalId) this.#shownRequest = undefined;
      this.#print();
    }
  }

  async #decide(approval: Approval): Promise<void> {
    const answer = canAsk() ? await this.#askHere(approval) : await this.#reject(approval);
    if (answer === undefined) return;
    try {
      const { approvalId } = approval;
      await this.#client.requests.answerApproval(this.#sessionId, approvalId, answer);
    } catch (error) {
      const code = error instanceof LiminalError ? error.code : undefined;
      if (answer.content !== undefined && code === 'INVALID_OPTION') {
        reportError(error);
        return this.#decide(approval);
      }
      if (code !== 'APPROVAL_ALREADY_ANSWERED') throw error;
    }
  }

  /** Asks the person at the terminal about the latest state of a request. Resolves with undefined if nobody answers. */
  async #askHere(approval: Approval): Promise<ApprovalAnswer | undefined> {
    const request = latestRequest(this.#turn, approval);
    this.#shownRequest = request;
    const { signal } = request.stop;
    await dropTypedLines();
    const answer = signal.aborted ? undefined : await answerTo(request);
    if (signal.reason !== requestChanged) return answer;
    console.error('The agent has changed its request:');
    return this.#askHere(approval);
  }

  /** Returns the answer that rejects the request. If the request has no such option, stops the turn. */
  async #reject({ title, options }: Approval): Promise<ApprovalAnswer | undefined> {
    const option = defaultOption(options, 'reject');
    const done = option === undefined ? 'the turn was stopped' : 'this was rejected';
    console.error(`There is no terminal for an answer, so ${done}: ${oneRow(title)}`);
    if (option === undefined) await this.#client.requests.cancel(this.#sessionId);
    return option && { optionId: option.optionId };
  }
}

const isProjectSettings = (item: UpsertObject): boolean =>
  item.type === 'tool_call' && item.toolName === projectSettingsCall;

/** A request that is shown on the screen, with its lines. */
interface ShownRequest {
  approval: Approval;
  about: readonly string[];
  stop: AbortController;
}

/** The reason for aborting a question whose request has changed. The new state of the request is asked next. */
const requestChanged = 'changed';

/** Returns the latest state of a request and of its call. */
function latestRequest(turn: JoinedTurn | undefined, approval: Approval): ShownRequest {
  const latest = waitingRequest(turn, approval) ?? approval;
  const call = turn?.items.find(
    (item) => item.type === 'tool_call' && item.callId === latest.callId,
  );
  const about = requestLines(latest, call?.type === 'tool_call' ? call : undefined);
  return { approval: latest, about, stop: new AbortController() };
}

/** Whether the turn contains a newer state of the request than the screen shows. */
function isChanged({ approval, about }: ShownRequest, turn: JoinedTurn): boolean {
  if (waitingRequest(turn, approval) === undefined) return false;
  const now = latestRequest(turn, approval);
  return shownText(now.approval, now.about) !== shownText(approval, about);
}

const shownText = ({ title, options, form }: Approval, about: readonly string[]): string =>
  JSON.stringify([title, options, form, about]);

function waitingRequest(
  turn: JoinedTurn | undefined,
  { approvalId }: Approval,
): Approval | undefined {
  return turn?.items.find(
    (item): item is Approval => item.type === 'approval' && item.approvalId === approvalId,
  );
}

async function answerTo({
  approval,
  about,
  stop,
}: ShownRequest): Promise<ApprovalAnswer | undefined> {
  const { title, options, form } = approval;
  const choice = await askChoice(title, options, stop.signal, ownTerminal(), about);
  if (!choice) return undefined;
  const { option, note } = choice;
  const answer = { optionId: option.optionId, ...(note && { note }) };
  if (form === undefined || !option.kind.startsWith('allow')) return answer;
  const content = await askForm(form, stop.signal);
  return content && { ...answer, content };
}

function reportError(error: unknown): void {
  console.error(withMarkedRows(thrownMessage(error)));
}
