import { randomUUID } from 'node:crypto';
import {
  type AcceptedContent,
  type ApprovalAnswer,
  type ContentBlock,
  isServerTurn,
  isTerminal,
  type McpServers,
  type OutputItem,
  type Response,
  type SessionNotice,
} from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import { commonImages, commonSounds } from '../../base/accepted-content.ts';
import type { FairSemaphore } from '../../base/fair-semaphore.ts';
import type { ConversationRewind } from '../../contract/provider.ts';
import { isoNow } from '../../base/iso-clock.ts';
import { NoticeBoard } from '../../base/notice-board.ts';
import { PendingApprovals } from '../../base/pending-approvals.ts';
import { TurnWriter } from '../../base/turn-writer.ts';
import type { AgentSession, SessionOpening, SessionOutput } from '../../contract/driver.ts';
import type { SteerTarget } from '../../contract/provider.ts';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import type { Tool } from '../tools/index.ts';
import type { Folders } from '../tools/project/project-path.ts';
import type { ChosenModel, ModelCatalog } from './catalog.ts';
import { compactWish, costIn, itemsOf, TurnItems } from './conversation.ts';
import { instructionsFor } from './instructions.ts';
import { McpTools } from './mcp-tools.ts';
import { ModelTurn } from './model-turn.ts';
import { Permissions } from './permissions.ts';
import type { RetrySettings } from './retries.ts';
import {
  type Effort,
  effortOption,
  modeOption,
  readEffort,
  readMode,
  unknownSetting,
} from './settings.ts';
import { ToolCalls } from './tool-calls.ts';
import { resumableCalls } from './waiting-calls.ts';

export interface ModelSessionOptions {
  opening: SessionOpening;
  /** The agent type. */
  name: string;
  catalog: ModelCatalog;
  tools: readonly Tool[];
  mcpServers: McpServers;
  /** Folders whose files are not shown to the model. */
  hiddenFolders: HiddenFolders;
  /** Environment variables that the tools' programs do not get. */
  hiddenVariables: readonly string[];
  /** Whether a model may write a script instead of many calls. */
  runsScripts: boolean;
  /** Limits how many scripts of all sessions run at the same time. */
  scripts: FairSemaphore;
  /** Limits how many MCP servers of all sessions start at the same time. */
  mcpStarts: FairSemaphore;
  retries: RetrySettings;
  maxRounds: number;
}

/** The items of the session's earlier turns, and their cost. */
interface Past {
  items: readonly OutputItem[];
  /** In US dollars; undefined if no cost is known. */
  cost: number | undefined;
}

/** The input of a turn; a resumed turn has no message. */
interface TurnInput {
  turnId: string;
  message?: string;
  blocks?: readonly ContentBlock[];
  instructions: string;
  tools: readonly Tool[];
}

interface RunningTurn {
  turnId: string;
  turn: ModelTurn;
  writer: TurnWriter;
  ended: Promise<void>;
}

const compact = {
  name: 'compact',
  description: 'Continue from a summary of the conversation',
  hint: 'what matters',
};

/** A conversation with models. The conversation is stored in Liminal's history, so any model can continue it. */
export class ModelSession implements AgentSession {
  isAlive = true;
  readonly #options: ModelSessionOptions;
  readonly #output: SessionOutput;
  readonly #approvals: PendingApprovals;
  readonly #permissions: Permissions;
  readonly #notices: NoticeBoard;
  readonly #mcpTools: McpTools;
  /** The earlier turns, read from history at the first message. */
  #past: Past | undefined;
  #chosen: ChosenModel | undefined;
  #effort: Effort = 'default';
  #folders: Folders;
  #running: RunningTurn | undefined;
  #isStarting = false;

  /** Throws ProviderError `INVALID_OPTION`. */
  constructor(options: ModelSessionOptions) {
    const { opening, catalog, name } = options;
    this.#options = options;
    const { projectDir, additionalDirectories } = opening;
    this.#folders = { projectDir, additionalDirectories };
    this.#output = opening.output;
    this.#notices = new NoticeBoard((notices) => this.#output.update({ notices }));
    this.#approvals = new PendingApprovals({
      open: (request) => this.#now?.openApproval(request),
      close: (id, outcome) => this.#now?.closeApproval(id, outcome),
    });
    this.#permissions = new Permissions({
      grants: opening.grants,
      onProblem: (what, problem) => this.#notices.put(`${what} grants`, warnings(problem ?? [])),
    });
    this.#mcpTools = new McpTools(options.mcpServers, {
      projectDir,
      hiddenVariables: options.hiddenVariables,
      starts: options.mcpStarts,
      onProblem: (server, problem) => this.#notices.put(`mcp ${server}`, warnings(problem ?? [])),
    });
    this.#chosen = catalog.first(name);
    for (const [id, value] of Object.entries(opening.config)) {
      if (id === 'model' && opening.earlier) this.#chooseModel(catalog.recall(value, name));
      else this.#change(id, value);
    }
    this.#output.update({ commands: [compact] });
    this.#reportOptions();
    void this.#refreshModels();
  }

  /**
   * The types of content that the API of the chosen model accepts. For a file that the model cannot read, the model
   * gets only the file's name.
   */
  get accepts(): AcceptedContent {
    const { catalog, name } = this.#options;
    const { takesAudio = false } = this.#chosen?.server ?? catalog.server(name);
    return {
      image: commonImages,
      audio: takesAudio ? Object.keys(commonSounds) : [],
      resource: ['text/*', 'application/pdf'],
    };
  }

  async send(message: string, turnId: string, blocks: readonly ContentBlock[]): Promise<void> {
    if (this.#running || this.#isStarting) {
      throw errors.TURN_IN_PROGRESS.working('The model');
    }
    this.#isStarting = true;
    try {
      const chosen = await this.#choose();
      const past = (this.#past ??= await this.#readPast());
      const started = { turnId, message, blocks, ...(await this.#surroundings()) };
      this.#begin(started, chosen, past, async (turn) => {
        const wish = compactWish(message);
        await (wish === undefined ? turn.run() : turn.compact(wish));
      });
    } finally {
      this.#isStarting = false;
    }
  }

  /**
   * Resumes a turn that was cut off while it asked people. Resolves when each question that still needs an answer has
   * been asked again.
   */
  async resume(): Promise<void> {
    const runs = (await this.#options.opening.earlier?.stored?.runs()) ?? [];
    const asked = resumableCalls(runs);
    if (asked.length === 0) return;
    // Asks the pending questions again even if the model is not available now: the turn reports a missing model only
    // when it needs the model.
    const chosen = this.#chosen ?? this.#modelOf(runs);
    this.#past = { items: itemsOf(runs), cost: costIn(runs) };
    const started = { turnId: randomUUID(), ...(await this.#surroundings()) };
    const again = asked.map((call) => ({ call, ...Promise.withResolvers<void>() }));
    const calls = again.map(({ call, resolve }) => ({ ...call, onAsked: resolve }));
    const running = this.#begin(started, chosen, this.#past, async (turn) => turn.resume(calls));
    await Promise.race([Promise.all(again.map(({ promise }) => promise)), running.ended]);
  }

  async steer(
    message: string,
    { turnId, messageId }: SteerTarget,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    const running = this.#running;
    if (running?.turnId !== turnId) throw errors.NOTHING_TO_STEER.noTurn();
    running.turn.steer(messageId, message, blocks);
  }

  async cancel(): Promise<void> {
    const running = this.#running;
    running?.turn.cancel();
    await running?.ended;
  }

  async close(): Promise<void> {
    if (!this.isAlive) return;
    this.isAlive = false;
    const running = this.#running;
    running?.turn.cancel('The session was ended.');
    await running?.ended;
    await this.#mcpTools.close();
    this.#output.exit({ expected: true });
  }

  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    this.#approvals.answer(approvalId, answer);
  }

  async setDirectories(folders: readonly string[]): Promise<boolean> {
    this.#folders = { ...this.#folders, additionalDirectories: folders };
    return true;
  }

  async setConfigOption(id: string, value: string): Promise<void> {
    this.#change(id, value);
    this.#reportOptions();
  }

  async rewindConversation({ remaining: kept }: ConversationRewind): Promise<void> {
    const runs = await kept.runs();
    this.#past = { items: itemsOf(runs), cost: costIn(runs) };
  }

  /** The running turn's writer, set to the current time. */
  get #now(): TurnWriter | undefined {
    this.#running?.writer.at(isoNow());
    return this.#running?.writer;
  }

  #begin(
    { turnId, message, blocks, instructions, tools }: TurnInput,
    chosen: ChosenModel,
    past: Past,
    work: (turn: ModelTurn) => Promise<void>,
  ): RunningTurn {
    if (!this.isAlive) throw errors.PROCESS_CRASH.sessionEnded();
    const { opening, catalog, retries, maxRounds, runsScripts, scripts } = this.#options;
    const { files } = opening;
    const items = new TurnItems();
    const writer = new TurnWriter(turnId, (draft) => {
      items.onDraft(draft);
      // Clear the running turn first, because the next message may arrive before `emit` returns.
      if (isTerminal(draft.payload)) this.#onTurnEnd(turn, [...past.items, ...items.ended]);
      this.#output.emit(draft);
    });
    const [approvals, permissions] = [this.#approvals, this.#permissions];
    const turn = new ModelTurn({
      writer,
      chosen,
      catalog,
      effort: this.#effort === 'default' ? undefined : this.#effort,
      instructions,
      earlier: past.items,
      items,
      tools: new ToolCalls({
        tools,
        folders: this.#folders,
        files,
        runsScripts,
        scripts,
        owner: this,
        approvals,
        permissions,
      }),
      retries,
      maxRounds,
      costBefore: past.cost,
      wait: (activity) => this.#output.update({ activity }),
    });
    const begun = Promise.withResolvers<void>();
    const ended = begun.promise.then(async () => work(turn));
    const running = { turnId, turn, writer, ended };
    this.#running = running;
    writer.at(isoNow());
    const { providerId } = chosen.server.client;
    const trigger = message === undefined ? 'agent' : 'user';
    writer.begin({ modelId: chosen.model, providerId, trigger }, message, blocks);
    begun.resolve();
    return running;
  }

  async #surroundings(): Promise<Pick<TurnInput, 'instructions' | 'tools'>> {
    const { hiddenFolders } = this.#options;
    const [instructions, more] = await Promise.all([
      instructionsFor(this.#folders, hiddenFolders),
      this.#mcpTools.tools(),
    ]);
    return { instructions, tools: [...this.#options.tools, ...more] };
  }

  #onTurnEnd(turn: ModelTurn, items: readonly OutputItem[]): void {
    this.#past = { items, cost: turn.cost };
    this.#running = undefined;
  }

  async #readPast(): Promise<Past> {
    const runs = (await this.#options.opening.earlier?.stored?.runs()) ?? [];
    return { items: itemsOf(runs), cost: costIn(runs) };
  }

  /** Rejects with ProviderError if there is no model to choose. */
  async #choose(): Promise<ChosenModel> {
    if (this.#chosen === undefined) await this.#refreshModels();
    const { catalog, name } = this.#options;
    if (this.#chosen !== undefined && this.#chosen.server.problem === undefined)
      return this.#chosen;
    const { title, problem } = catalog.server(name);
    const noticeText = this.#notices.all.map(({ text }) => text).join(' ');
    const why = problem ?? `${noticeText || 'Its server lists no models.'} ${byId}`;
    const { because, noModel } = errors.SESSION_CREATE_FAILED;
    throw this.#chosen ? because(cannotBeAsked(this.#chosen)) : noModel(title, why);
  }

  /** Returns the model of the newest turn. */
  #modelOf(runs: readonly Response[]): ChosenModel {
    const { catalog, name } = this.#options;
    const newest = runs.findLast((run) => !isServerTurn(run));
    return catalog.recall(`${name}:${newest?.modelId ?? ''}`, name);
  }

  #chooseModel(chosen: ChosenModel): void {
    this.#chosen = chosen;
    const { problem } = chosen.server;
    this.#notices.put('model', warnings(problem === undefined ? [] : cannotBeAsked(chosen)));
  }

  /** Fetches the missing lists of models. Never rejects: if a server does not list its models, people get a notice. */
  async #refreshModels(): Promise<void> {
    const { catalog, name } = this.#options;
    const problem = await catalog.refresh(name);
    if (!this.isAlive) return;
    this.#notices.put('models', warnings(problem ?? []));
    this.#chosen ??= catalog.first(name);
    this.#reportOptions();
  }

  /** Throws ProviderError `INVALID_OPTION`. */
  #change(id: string, value: string): void {
    const { catalog, name } = this.#options;
    if (id === 'model') this.#chooseModel(catalog.choose(value, name));
    else if (id === 'mode') this.#permissions.mode = readMode(value);
    else if (id === 'effort') this.#effort = readEffort(value);
    else throw unknownSetting(id);
  }

  #reportOptions(): void {
    const { catalog, name } = this.#options;
    const model = catalog.option(this.#chosen, name);
    const rest = [modeOption(this.#permissions.mode), effortOption(this.#effort)];
    this.#output.update({ configOptions: [model, ...rest], accepts: this.accepts });
  }
}

const byId =
  'If you know a model’s id, type it into the choice of models, pass it to liminal run --model, or set "model" in the configuration.';

const cannotBeAsked = ({ server, model }: ChosenModel): string =>
  `“${model}” of “${server.title}” is not available. ${server.problem ?? ''} Or choose another model.`;

function warnings(texts: string | readonly string[]): SessionNotice[] {
  return [texts].flat().map((text) => ({ level: 'warning', text }));
}
