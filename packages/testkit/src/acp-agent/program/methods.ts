/** The answers that the agent gives by default. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError } from './call.ts';
import { LiveSession, type Stage } from './live-session.ts';
import type { StoredSession } from '../script.ts';
import { setConfigOption, setMode } from './settings.ts';

export type Params = Record<string, unknown>;
type Offer = 'load' | 'list' | 'resume' | 'close' | 'delete' | 'fork';

const invalidParams = -32602;
const methodNotFound = -32601;
const notFound = -32002;
const authRequired = -32000;

export class Methods {
  readonly #stage: Stage;
  readonly #live = new Map<unknown, LiveSession>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Returns the result of a method; rejects with the error of the method. */
  async call(method: string, params: Params): Promise<unknown> {
    const own: unknown = Object.hasOwn(this.#table, method) ? this.#table[method] : undefined;
    if (typeof own !== 'function')
      throw new RpcError(methodNotFound, `Method not found: ${method}`);
    return own(params);
  }

  /** Returns the session of a call, if this process has that session. */
  session({ sessionId }: Params): LiveSession | undefined {
    return this.#live.get(sessionId);
  }

  readonly #table: Record<string, (params: Params) => unknown> = {
    initialize: () => ({ ...this.#greeting(), ...this.#stage.script.initialize }),
    authenticate: (params) => this.#authenticate(params),
    logout: () => {
      this.#stage.stored.authenticated = false;
      return {};
    },
    'session/new': (params) => this.#new(params),
    'session/load': (params) => this.#load(params),
    'session/resume': (params) => this.#resume(params),
    'session/fork': (params) => this.#fork(params),
    'session/list': (params) => this.#list(params),
    'session/close': (params) => this.#close(params),
    'session/delete': (params) => this.#delete(params),
    'session/cancel': (params) => this.session(params)?.cancel(),
    '$/cancel_request': ({ requestId }) => {
      for (const session of this.#live.values()) session.cancelRequest(requestId);
    },
    'session/set_mode': (params) => setMode(this.#own(params).settings, params['modeId']),
    'session/set_config_option': (params) =>
      setConfigOption(this.#own(params).settings, params['configId'], params['value']),
  };

  #greeting(): Record<string, unknown> {
    const { load, ...others } = this.#offers();
    const offered = Object.entries(others).filter(([, offers]) => offers);
    return {
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: load,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: Object.fromEntries(offered.map(([name]) => [name, {}])),
      },
      authMethods: this.#stage.script.needsAuth === true ? [{ id: 'login', name: 'Log in' }] : [],
      agentInfo: { name: 'scripted-agent', title: 'Scripted agent', version: '1.0.0' },
    };
  }

  #authenticate({ methodId }: Params): unknown {
    const { authMethods } = { ...this.#greeting(), ...this.#stage.script.initialize };
    const methods = Array.isArray(authMethods) ? authMethods : [];
    if (!methods.some((method: { id?: unknown }) => method.id === methodId))
      throw new RpcError(invalidParams, `There is no authentication method ${String(methodId)}.`);
    this.#stage.stored.authenticated = true;
    return {};
  }

  #new({ cwd }: Params): unknown {
    this.#authenticated();
    const sessionId = randomUUID();
    const session = this.#enter({ sessionId, cwd: String(cwd) });
    if (this.#stage.script.storesAtFirstPrompt !== true) session.save();
    return { sessionId, ...session.settings };
  }

  async #load(params: Params): Promise<unknown> {
    const stored = this.#stored('load', params);
    const session = this.#enter(stored);
    const pauseMs = this.#stage.script.replaysAfterAnswer;
    if (pauseMs === undefined) await this.#replay(stored, 0);
    else setImmediate(() => void this.#replay(stored, pauseMs));
    return session.settings;
  }

  async #replay({ sessionId, updates = [] }: StoredSession, pauseMs: number): Promise<void> {
    for (const update of updates) {
      await this.#stage.voice.update(sessionId, update);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  #resume(params: Params): unknown {
    return this.#enter(this.#stored('resume', params)).settings;
  }

  #fork(params: Params): unknown {
    const sessionId = randomUUID();
    const session = this.#enter({ ...this.#stored('fork', params), sessionId });
    session.save();
    return { sessionId, ...session.settings };
  }

  #list({ cwd, cursor }: Params): unknown {
    this.#offered('list');
    this.#authenticated();
    const { listWithoutFolder } = this.#stage.script;
    if (cwd === undefined && listWithoutFolder === 'refuse')
      throw new RpcError(invalidParams, 'Invalid params: cwd is required');
    if (cwd === undefined && listWithoutFolder === 'empty') return { sessions: [] };
    const all = this.#stage.stored
      .all()
      .filter((session) => typeof cwd !== 'string' || session.cwd === cwd)
      .map(({ updates: _updates, ...info }) => info);
    const from = Number(cursor ?? 0);
    const to = from + (this.#stage.script.listPageSize ?? all.length);
    return { sessions: all.slice(from, to), ...(to < all.length && { nextCursor: String(to) }) };
  }

  #close(params: Params): unknown {
    this.#offered('close');
    this.#own(params).close();
    this.#live.delete(params['sessionId']);
    return {};
  }

  #delete(params: Params): unknown {
    const { sessionId } = this.#stored('delete', params);
    this.#live.get(sessionId)?.close();
    this.#live.delete(sessionId);
    this.#stage.stored.remove(sessionId);
    return {};
  }

  #own(params: Params): LiveSession {
    const session = this.session(params);
    if (session === undefined) throw new RpcError(notFound, 'There is no such session.');
    return session;
  }

  #enter(stored: StoredSession): LiveSession {
    const session = new LiveSession(this.#stage, stored);
    this.#live.set(stored.sessionId, session);
    return session;
  }

  #stored(offer: Offer, { sessionId }: Params): StoredSession {
    this.#offered(offer);
    this.#authenticated();
    const found = this.#stage.stored.find(sessionId);
    if (found === undefined) throw new RpcError(notFound, 'There is no such session.');
    return found;
  }

  #offered(offer: Offer): void {
    if (!this.#offers()[offer])
      throw new RpcError(methodNotFound, `Method not found: session/${offer}`);
  }

  #offers(): Record<Offer, boolean> {
    const usual = {
      load: true,
      list: true,
      resume: false,
      close: true,
      delete: false,
      fork: false,
    };
    return { ...usual, ...this.#stage.script.offers };
  }

  #authenticated(): void {
    if (this.#stage.script.needsAuth === true && !this.#stage.stored.authenticated)
      throw new RpcError(authRequired, 'Authentication required');
  }
}
