/**
 * Editors in tests. An editor is a client made with the SDK. It is connected in memory to Liminal's ACP agent, which
 * has its own runtime.
 */
import {
  type AnyMessage,
  client,
  type ClientCapabilities,
  type ClientConnection,
  methods,
  type NewSessionRequest,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from '@agentclientprotocol/sdk/unstable';
import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import { createRuntime, type Runtime, type RuntimeSettings } from '@liminal/runtime';
import { openMemoryStorage } from '@liminal/storage/memory';
import { makeWorkspace, type Workspace } from '@liminal/testkit';
import { checkedStream } from '@liminal/testkit/acp-schema';
import { onTestFinished } from 'vitest';
import { acpAgent } from '../../src/acp/agent.ts';

export interface Stage {
  runtime: Runtime;
  workspace: Workspace;
  drivers: DriverRegistry;
  /** Errors that the ACP agent reported through `onProblem`. */
  problems: unknown[];
  /** Connects another editor. Resolves after its `initialize`. */
  editor(options?: EditorOptions): Promise<Editor>;
}

interface StageOptions {
  files?: Record<string, string>;
  settings?: Partial<RuntimeSettings>;
  provide: (workspace: Workspace) => Promise<AgentDriver> | AgentDriver;
}

/** Sets up a runtime and its ACP agent. Both are closed after the test. */
export async function stage({ files, settings, provide }: StageOptions): Promise<Stage> {
  const workspace = await makeWorkspace(files);
  const storage = openMemoryStorage();
  const drivers = new DriverRegistry();
  const provider = await provide(workspace);
  drivers.register(provider);
  const logger = { info() {}, warn() {}, error() {} };
  const roots = [workspace.projectDir];
  const runtime = await createRuntime({
    storage,
    drivers,
    roots,
    logger,
    ...(settings && { settings }),
  });
  const problems: unknown[] = [];
  onTestFinished(async () => {
    await runtime.close();
    await storage.close();
    await workspace.remove();
  });
  const editor = async (options: EditorOptions = {}): Promise<Editor> => {
    const { cliType } = provider;
    const onProblem = (error: unknown) => void problems.push(error);
    const agent = acpAgent({ runtime, cliType, version: '1.2.3', onProblem });
    const [here, there] = streams();
    const other = agent.connect(there);
    const made = new Editor(workspace.projectDir, options, (app) =>
      app.connect(checkedStream(here)),
    );
    // Close the other end too, as a socket would.
    void made.connection.closed.then(() => other.close());
    onTestFinished(() => made.leave());
    await made.hello();
    return made;
  };
  return { runtime, workspace, drivers, problems, editor };
}

/** Returns both ends of a connection in memory. */
function streams(): [Stream, Stream] {
  const [one, other] = [0, 1].map(() => new TransformStream<AnyMessage, AnyMessage>());
  return [
    { readable: one!.readable, writable: other!.writable },
    { readable: other!.readable, writable: one!.writable },
  ];
}

export interface EditorOptions {
  capabilities?: ClientCapabilities;
  /** The contents of the editor's buffers, by path. Agents read and write these buffers. */
  buffers?: Map<string, string>;
  /**
   * Returns the option with which the editor answers a permission request. By default, this is the option that allows
   * once.
   */
  permit?: (request: RequestPermissionRequest) => string;
  /** Adds handlers for further kinds of requests from the agent. */
  answers?: (app: App) => void;
  /** Called before each read or write of a buffer. */
  beforeUse?: (method: string, editor: Editor) => void | Promise<void>;
}

type App = ReturnType<typeof client>;

/** An editor that allows every permission request. */
export class Editor {
  readonly updates: SessionUpdate[] = [];
  /** The reads and writes of the editor's buffers, in order: `read /a`, `write /a`. */
  readonly used: string[] = [];
  readonly connection: ClientConnection;
  readonly #projectDir: string;
  readonly #capabilities: ClientCapabilities;
  #wake = Promise.withResolvers<void>();

  constructor(projectDir: string, options: EditorOptions, connect: (app: App) => ClientConnection) {
    const { buffers = new Map<string, string>(), beforeUse } = options;
    this.#projectDir = projectDir;
    this.#capabilities = options.capabilities ?? {};
    const { session, fs } = methods.client;
    const app = client({ name: 'an editor of the tests' })
      .onNotification(session.update, ({ params }) => {
        this.updates.push(params.update);
        this.#wake.resolve();
        this.#wake = Promise.withResolvers();
      })
      .onRequest(session.requestPermission, ({ params }) => {
        const once = params.options.find(({ kind }) => kind === 'allow_once');
        const optionId = options.permit?.(params) ?? once?.optionId ?? '';
        return { outcome: { outcome: 'selected', optionId } };
      })
      .onRequest(fs.readTextFile, async ({ params: { path, line, limit } }) => {
        this.used.push(`read ${path}`);
        await beforeUse?.('read', this);
        const content = buffers.get(path);
        if (content === undefined) throw new Error('The buffer does not exist.');
        const first = (line ?? 1) - 1;
        const lines = content.split('\n').slice(first, limit == null ? undefined : first + limit);
        return { content: lines.join('\n') };
      })
      .onRequest(fs.writeTextFile, async ({ params: { path, content } }) => {
        this.used.push(`write ${path}`);
        await beforeUse?.('write', this);
        buffers.set(path, content);
        return {};
      });
    options.answers?.(app);
    this.connection = connect(app);
  }

  get agent() {
    return this.connection.agent;
  }

  hello() {
    const clientCapabilities = this.#capabilities;
    return this.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
  }

  /** Creates a session. Resolves with the session's id. */
  async create(more: Partial<NewSessionRequest> = {}): Promise<string> {
    const params = { cwd: this.#projectDir, mcpServers: [], ...more };
    const { sessionId } = await this.agent.request(methods.agent.session.new, params);
    return sessionId;
  }

  async load(sessionId: string, more: Partial<NewSessionRequest> = {}): Promise<void> {
    const params = { sessionId, cwd: this.#projectDir, mcpServers: [], ...more };
    await this.agent.request(methods.agent.session.load, params);
  }

  prompt(sessionId: string, text: string): Promise<PromptResponse> {
    const prompt = [{ type: 'text' as const, text }];
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  /** Returns the agent's whole text. */
  get agentText(): string {
    return this.updates
      .flatMap((update) =>
        update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
          ? [update.content.text]
          : [],
      )
      .join('');
  }

  async until<T>(look: (updates: readonly SessionUpdate[]) => T | undefined): Promise<T> {
    for (;;) {
      const found = look(this.updates);
      if (found !== undefined) return found;
      await this.#wake.promise;
    }
  }

  leave(): void {
    this.connection.close();
  }
}
