import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import type {
  ApprovalAnswer,
  ContentBlock,
  ItemStartPayload,
  Response,
  ServerMessage,
} from '@liminal/protocol';
import { createRuntime, type Runtime } from '@liminal/runtime';
import { openMemoryStorage } from '@liminal/storage/memory';
import { checkedStream } from '@liminal/testkit/acp-schema';
import { atLength } from '@liminal/testkit/at-length';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acpAgent } from '../../src/acp/agent.ts';
import { actedTurns, attachments } from './acted-turns.ts';
import { ActingProvider, type Script } from './acting-provider.ts';
import { clientTurn, agentTurn } from './comparable.ts';

const silent = { info() {}, warn() {}, error() {} };
const relay =
  'const s = require("node:net").connect(process.argv[1]); process.stdin.pipe(s); s.pipe(process.stdout);';

/**
 * The tested chain: Liminal's ACP provider, lines as a program sends them, Liminal's ACP agent, and an agent that plays
 * scripts.
 */
class Chain {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-acp-')));
  readonly actor = new ActingProvider();
  readonly problems: unknown[] = [];
  readonly #left = new AbortController();
  #inner!: Runtime;
  #outer!: Runtime;
  #server!: Server;
  #sessionId!: string;
  #turns = 0;
  readonly #begun = new Map<string, PromiseWithResolvers<void>>();

  async start(): Promise<void> {
    this.#inner = await this.#runtime(this.actor);
    const path = join(this.folder, 'acp');
    this.#server = createServer((socket) => {
      const input = Readable.toWeb(socket) as ReadableStream<Uint8Array>;
      const stream = ndJsonStream(Writable.toWeb(socket), input);
      const onProblem = (error: unknown) => this.problems.push(error);
      const runtime = this.#inner;
      const agent = acpAgent({ runtime, cliType: 'actor', version: '1.0.0', onProblem });
      agent.connect(checkedStream(stream, { onProblem }));
    }).listen(path);
    const command = { command: process.execPath, args: ['-e', relay, path] };
    const about = { cliType: 'liminal', name: 'Liminal', description: 'Liminal itself.' };
    this.#outer = await this.#runtime(new AcpDriver({ ...about, ...command }));
    const asked = { cliType: 'liminal', projectDir: this.folder };
    ({ sessionId: this.#sessionId } = await this.#outer.createSession(asked));
    const send = ({ message }: { message: ServerMessage }) => {
      if (message.type === 'session:turn') this.#turn(message.payload.turnId).resolve();
      return true;
    };
    this.#outer.subscribe(this.#sessionId, {}, { send });
  }

  /** Plays a script in one turn. Resolves with the turn as it is at both ends. */
  async act(script: Script, blocks: ContentBlock[]): Promise<{ inner: Response; outer: Response }> {
    const message = `Act ${++this.#turns}.`;
    this.actor.scripts.set(message, script);
    const turnId = crypto.randomUUID();
    await this.#outer.send(this.#sessionId, message, turnId, { blocks });
    await this.#turn(turnId).promise;
    await this.#follow(turnId);
    const outer = await this.#outer.getRun(turnId);
    const inner = await this.#inner.getRun(this.actor.turns.get(message) ?? '');
    return { inner, outer };
  }

  async close(): Promise<void> {
    this.#left.abort();
    await this.#outer.close();
    await this.#inner.close();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.folder, { recursive: true });
  }

  /** Returns the promise of the start of a turn. */
  #turn(turnId: string): PromiseWithResolvers<void> {
    const turn = this.#begun.get(turnId) ?? Promise.withResolvers<void>();
    this.#begun.set(turnId, turn);
    return turn;
  }

  /** Reads a run to its end, and rejects every second question. */
  async #follow(runId: string): Promise<void> {
    const { signal } = this.#left;
    const feed = await this.#outer.followRun(runId, { after: -1, signal });
    if (feed.kind === 'snapshot') return;
    let asked = 0;
    for await (const { payload } of feed.events) {
      if (payload.type !== 'item_start' || payload.itemType !== 'approval') continue;
      const isAllowed = asked++ % 2 === 0;
      await this.#outer.answerApproval(
        this.#sessionId,
        payload.approvalId ?? '',
        answerTo(payload, isAllowed),
      );
    }
  }

  #runtime(provider: AgentDriver): Promise<Runtime> {
    const drivers = new DriverRegistry();
    drivers.register(provider);
    const settings = { cadenceMs: 0 };
    const roots = [this.folder];
    const storage = openMemoryStorage();
    return createRuntime({ storage, drivers, roots, logger: silent, settings });
  }
}

function answerTo({ options = [], form }: ItemStartPayload, isAllowed: boolean): ApprovalAnswer {
  const wanted = isAllowed ? 'allow' : 'reject';
  const optionId = options.find(({ kind }) => kind.startsWith(wanted))?.optionId ?? '';
  return { optionId, ...(form && isAllowed && { content: { name: 'Ada' } }) };
}

const chain = new Chain();
beforeAll(async () => chain.start());
afterAll(async () => chain.close());

let newestPlan = '';

/** Whether the script's last plan equals the last plan of an earlier turn. */
function repeatsPlan(steps: Script['steps']): boolean {
  const plans = steps.flatMap((step) => {
    if (!('type' in step)) return [];
    if (step.type === 'item_start' && step.itemType === 'plan') return JSON.stringify(step.entries);
    const entries = step.type === 'item_delta' ? step.patch?.entries : undefined;
    return entries === undefined ? [] : JSON.stringify(entries);
  });
  const repeats = plans.at(-1) === newestPlan;
  newestPlan = plans.at(-1) ?? newestPlan;
  return repeats;
}

const numRuns = atLength ? 1_000 : 100;

test(`FR-039-01, FR-039-02, FR-039-03, FR-039-04: ${numRuns} turns are the same at both ends of ACP`, async () => {
  await fc.assert(
    fc.asyncProperty(actedTurns, fc.boolean(), attachments, async (steps, isSlow, blocks) => {
      const { inner, outer } = await chain.act({ steps, isSlow }, blocks);
      const repeats = repeatsPlan(steps);
      expect(clientTurn(outer, repeats)).toEqual(agentTurn(inner, repeats));
    }),
    { numRuns },
  );
  expect(chain.problems).toEqual([]);
});
