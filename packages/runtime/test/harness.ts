import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProviderRegistry } from '@liminal/agents';
import type { ServerMessage, UpsertObject } from '@liminal/protocol';
import type { OpenedStorage } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage';
import type { Outgoing, Runtime, RuntimeSettings, SubscribeOptions } from '../src/index.ts';
import { createRuntime } from '../src/index.ts';
import { ScriptedAgent } from './scripted-agent.ts';

export interface World {
  runtime: Runtime;
  agent: ScriptedAgent;
  storage: OpenedStorage;
  projectDir: string;
  warnings: string[];
  /** Another runtime on the same storage, as after a restart. The first is left as a crash leaves it. */
  restart(): Promise<World>;
  end(): Promise<void>;
}

export async function startWorld(
  settings: Partial<RuntimeSettings> = {},
  kept?: { storage: OpenedStorage; projectDir: string },
): Promise<World> {
  const storage = kept?.storage ?? openMemoryStorage();
  const projectDir =
    kept?.projectDir ?? (await realpath(await mkdtemp(join(tmpdir(), 'liminal-runtime-'))));
  const agent = new ScriptedAgent();
  const providers = new ProviderRegistry();
  providers.register(agent);
  const warnings: string[] = [];
  const note = (_details: object, message: string): void => void warnings.push(message);
  const runtime = await createRuntime({
    storage,
    providers,
    roots: [projectDir],
    settings: { cadenceMs: 0, heartbeatMs: 0, ...settings },
    logger: { info: note, warn: note, error: note },
  });
  return {
    runtime,
    agent,
    storage,
    projectDir,
    warnings,
    restart: async () => startWorld(settings, { storage, projectDir }),
    end: async () => {
      await runtime.close();
      await rm(projectDir, { recursive: true, force: true });
    },
  };
}

/** A reader that keeps what it is sent, and the state that a client would make of it. */
export class Reader {
  readonly messages: ServerMessage[] = [];
  readonly items = new Map<string, UpsertObject>();
  cursor: string | undefined;
  /** What `send` answers: false plays a transport that is full. */
  ready = true;
  readonly #subscription;
  #waiting: (() => void)[] = [];

  constructor(runtime: Runtime, sessionId: string, options: SubscribeOptions = {}) {
    this.#subscription = runtime.subscribe(sessionId, options, {
      send: (outgoing) => this.#take(outgoing),
    });
  }

  drained(): void {
    this.ready = true;
    this.#subscription.drained();
  }

  close(): void {
    this.#subscription.close();
  }

  /** Resolves when the condition holds: now, or after a message. */
  async until(condition: (reader: Reader) => boolean): Promise<this> {
    while (!condition(this)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this;
  }

  async untilType(type: ServerMessage['type'], count = 1): Promise<this> {
    return this.until((reader) => reader.ofType(type).length >= count);
  }

  async untilTurn(type: 'turn_started' | 'turn_complete' | 'turn_error', count = 1): Promise<this> {
    return this.until(
      (reader) =>
        reader.ofType('session:turn').filter((m) => m.payload.type === type).length >= count,
    );
  }

  ofType<T extends ServerMessage['type']>(type: T): Extract<ServerMessage, { type: T }>[] {
    return this.messages.filter((m): m is Extract<ServerMessage, { type: T }> => m.type === type);
  }

  /** Final contents by item, for comparing readers. */
  state(): unknown[] {
    return [...this.items.values()].map((item) => ({
      ...item,
      emittedAt: '',
      sourceTimestamp: '',
    }));
  }

  #take(outgoing: Outgoing): boolean {
    const message = JSON.parse(outgoing.json()) as ServerMessage;
    this.messages.push(message);
    this.#apply(message);
    if ('cursor' in message) this.cursor = message.cursor;
    for (const wake of this.#waiting.splice(0)) wake();
    return this.ready;
  }

  #apply(message: ServerMessage): void {
    if (message.type === 'session:upsert') this.items.set(message.payload.itemId, message.payload);
    if (message.type === 'session:discard') this.items.delete(message.itemId);
    if (message.type === 'session:append') this.#append(message);
    if (message.type === 'session:history') this.#restart(message);
  }

  #append({ itemId, at, text }: { itemId: string; at: number; text: string }): void {
    const item = this.items.get(itemId);
    if (item?.type !== 'message' && item?.type !== 'thinking')
      throw new Error(`append to ${itemId}`);
    if (item.content.length !== at) throw new Error(`append at ${at} to ${item.content.length}`);
    this.items.set(itemId, { ...item, content: item.content + text });
  }

  #restart(history: Extract<ServerMessage, { type: 'session:history' }>): void {
    const given = new Set(history.turns.map((turn) => turn.turnId));
    for (const [itemId, item] of this.items) {
      if (history.resumed === 'snapshot' || given.has(item.turnId)) this.items.delete(itemId);
    }
    for (const entry of history.entries) this.items.set(entry.itemId, entry);
  }
}
