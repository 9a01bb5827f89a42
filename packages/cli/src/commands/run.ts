import { resolve } from 'node:path';
import { type JoinedTurn, joinTurns, type LiminalClient, type SessionView } from '@liminal/client';
import {
  type ApprovalOption,
  defaultOption,
  LiminalError,
  markHidden,
  messageOf,
} from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { ConfigError } from '../config/errors.ts';
import { type AttachedFile, readAttachments, uploadAttachments } from '../attach.ts';
import { connect } from '../connect.ts';
import { ask, canAsk, type Choice } from '../terminal/ask.ts';
import { askForm } from '../terminal/ask-form.ts';
import { closedPipeExit, readerGone } from '../terminal/closed-pipe.ts';
import { jsonLine } from '../terminal/json-line.ts';
import { formatLine } from '../terminal/lines.ts';
import { TextStream } from '../terminal/text-stream.ts';
import { type Line, Transcript } from '../transcript.ts';
import { watch } from '../watch.ts';

export interface RunFlags {
  agent: string;
  dir?: string;
  session?: string;
  /** Config options of the agent, each `id=value`. */
  set?: string[];
  /** Paths of files that go with the prompt. */
  attach?: string[];
  /** Print the answer as JSON, one object per line. */
  json?: boolean;
}

type Approval = Extract<Line, { kind: 'approval' }>['item'];

/**
 * Sends one prompt; the answer goes to standard output, everything else to standard error. Returns 1 if the turn fails.
 * It ends when the reader of the answer is gone; on a shared server the turn goes on.
 */
export async function run(prompt: string, flags: RunFlags, config: Config): Promise<number> {
  const settings = (flags.set ?? []).map(readSetting);
  const files = await readAttachments(flags.attach ?? []);
  const { client, close } = await connect(config);
  try {
    const sessionId = flags.session ?? (await create(client, flags));
    for (const [id, value] of settings) await client.requests.setConfig(sessionId, id, value);
    await watch(client, sessionId, () => true);
    const { turnId } = await send(client, sessionId, prompt, files);
    console.error(`Session ${sessionId}`);
    return await new PrintedTurn(client, sessionId, turnId, flags.json ?? false).follow();
  } finally {
    await close();
  }
}

async function send(
  { requests }: LiminalClient,
  sessionId: string,
  prompt: string,
  files: readonly AttachedFile[],
) {
  if (files.length === 0) return requests.send(sessionId, prompt);
  const blocks = await uploadAttachments(requests, files);
  return requests.send(sessionId, prompt, undefined, { blocks });
}

async function create(client: LiminalClient, { agent, dir }: RunFlags): Promise<string> {
  const projectDir = resolve(dir ?? process.cwd());
  return (await client.requests.createSession({ cliType: agent, projectDir })).sessionId;
}

/** `id=value` of `--set`. Throws ConfigError. */
export function readSetting(text: string): [id: string, value: string] {
  const [, id, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (id !== undefined && value !== undefined) return [id, value];
  throw new ConfigError(
    `--set needs an option and its value, as in --set model=opus; not "${text}".`,
  );
}

/** One turn on the terminal, and what goes on with it after its server's end. */
export class PrintedTurn {
  readonly #client: LiminalClient;
  readonly #sessionId: string;
  #turnId: string;
  readonly #isJson: boolean;
  readonly #transcript = new Transcript();
  readonly #text = new TextStream((text) => process.stdout.write(text));
  #activity = '';
  /** The ids of the questions on the screen. */
  readonly #asking = new Set<string>();
  /** Aborts the last of them. */
  #question = new AbortController();

  constructor(client: LiminalClient, sessionId: string, turnId: string, isJson: boolean) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#turnId = turnId;
    this.#isJson = isJson;
  }

  /** Returns the exit code. */
  async follow(): Promise<number> {
    const cancel = () => void this.#client.requests.cancel(this.#sessionId).catch(complain);
    // The first signal stops the turn; without this handler the second one ends the process as usual.
    process.once('SIGINT', cancel);
    const isGone = readerGone(process.stdout);
    let exitCode = closedPipeExit;
    const look = ({ turns, info }: SessionView): boolean => {
      const joined = joinTurns(turns);
      for (;;) {
        const turn = joined.find((each) => each.turnId === this.#turnId);
        if (!turn) return false;
        this.#tellActivity(info?.activity ?? '');
        this.#tell(turn);
        if (turn.status === 'in_progress') return false;
        exitCode = turn.status === 'complete' ? 0 : 1;
        if (turn.goesOnIn === undefined) return true;
        this.#turnId = turn.goesOnIn;
      }
    };
    await watch(this.#client, this.#sessionId, look, isGone);
    this.#question.abort();
    this.#text.breakLine();
    process.off('SIGINT', cancel);
    return exitCode;
  }

  #tell(turn: JoinedTurn): void {
    if (!this.#isJson) this.#text.update(turn);
    for (const line of this.#transcript.read({ turns: [turn] })) {
      if (this.#isJson) console.log(jsonLine(line));
      this.#show(line);
    }
  }

  /** Says what the silent agent waits for, as a retry after an overloaded model. */
  #tellActivity(activity: string): void {
    if (activity === this.#activity) return;
    this.#activity = activity;
    if (activity === '') return;
    this.#text.breakLine();
    console.error(markHidden(activity));
  }

  #show(line: Line): void {
    if (line.kind === 'approval') return void this.#ask(line.item).catch(complain);
    if (line.kind === 'item' && line.item.type === 'approval') this.#question.abort();
    if (this.#isJson) return;
    // Messages have been streamed, or were typed a moment ago.
    if (line.kind === 'item' && line.item.type === 'message') return;
    const text = formatLine(line);
    if (text === '') return;
    this.#text.breakLine();
    console.error(text);
  }

  /** Asks what is not being asked: a turn that goes on asks again what is still on the screen. */
  async #ask(approval: Approval): Promise<void> {
    const { approvalId } = approval;
    if (this.#asking.has(approvalId)) return;
    this.#asking.add(approvalId);
    try {
      await this.#decide(approval);
    } finally {
      this.#asking.delete(approvalId);
    }
  }

  async #decide(approval: Approval): Promise<void> {
    const { approvalId, title, description, options, form } = approval;
    this.#text.breakLine();
    if (description !== undefined) console.error(markHidden(description));
    this.#question = new AbortController();
    const choice = canAsk()
      ? await ask(title, options, this.#question.signal)
      : await this.#reject(title, options);
    if (!choice) return;
    const { option, note } = choice;
    const { optionId, kind } = option;
    const isFilled = form !== undefined && kind.startsWith('allow');
    const content = isFilled ? await askForm(form, this.#question.signal) : undefined;
    if (isFilled && content === undefined) return;
    try {
      const answer = { optionId, ...(content && { content }), ...(note && { note }) };
      await this.#client.requests.answerApproval(this.#sessionId, approvalId, answer);
    } catch (error) {
      if (isFilled && error instanceof LiminalError && error.code === 'INVALID_OPTION') {
        complain(error);
        return this.#decide(approval);
      }
      const isOver = error instanceof LiminalError && error.code === 'APPROVAL_ALREADY_ANSWERED';
      if (!isOver) throw error;
    }
  }

  /** The refusal to answer with; stops the turn if the request offers none. */
  async #reject(title: string, options: readonly ApprovalOption[]): Promise<Choice | undefined> {
    const option = defaultOption(options, 'reject');
    const done = option === undefined ? 'the turn was stopped' : 'this was rejected';
    console.error(`Nobody is at the terminal to be asked, so ${done}: ${markHidden(title)}`);
    if (option === undefined) await this.#client.requests.cancel(this.#sessionId);
    return option && { option };
  }
}

function complain(error: unknown): void {
  console.error(messageOf(error));
}
