import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type {
  ClientMessage,
  HistoryPage,
  ServerMessage,
  SessionInfo,
  SessionSummary,
  UploadedBlob,
} from '@liminal/protocol';
import { atLength } from '@liminal/testkit/at-length';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

/** The id of the session of the running test. Tests that share a page have a session each. */
export let sessionId = 's1';
const time = '2026-01-01T00:00:00.000Z';
/** The folder of the built app. The environment variable `WEB_APP` can contain another build. */
const dist = process.env['WEB_APP'] ?? fileURLToPath(new URL('../dist/', import.meta.url));
const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The policy that the server sends with the app, so that a page that violates the policy also fails here. */
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'";

/** The policy that the server sends with the page that draws diagrams. */
const framePolicy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts";

/** Another session, without messages. */
export function otherSession(id: string, rest: Partial<SessionSummary> = {}): SessionSummary {
  return {
    sessionId: id,
    cliType: 'demo',
    projectId: '/code/shop',
    projectDir: '/code/shop',
    title: `Session ${id}`,
    createdAt: time,
    updatedAt: time,
    state: 'idle',
    isAlive: false,
    active: true,
    source: 'liminal',
    ...rest,
  };
}

type ProfileOptions = NonNullable<Parameters<Browser['newContext']>[0]>;

/** A browser profile, and the options with which it was opened. */
interface Profile {
  context: BrowserContext;
  options: ProfileOptions;
  /** A page that has shown nothing yet, in an empty browser profile. */
  page: Page;
}

/** The server's history when a test starts. */
const nothing: HistoryPage = { entries: [], turns: [], cursor: '', hasMore: false };
const infoAtFirst = (): SessionInfo => ({
  session: {
    sessionId,
    cliType: 'demo',
    projectId: '/code/shop',
    projectDir: '/code/shop',
    title: 'Fix the login',
    createdAt: time,
    updatedAt: time,
    state: 'running',
    isAlive: true,
    active: true,
    source: 'liminal',
  },
  queue: [],
  configOptions: [],
  commands: [],
});

/** A fake server with one session. The page depends only on the messages that a test sends. */
export class Stage {
  /**
   * Whether to use the whole browser, which runs a frame of another origin in a process of its own. The headless shell
   * does not do that. Must be set before the first visit.
   */
  static isWholeBrowser = false;
  static #browser: Promise<Browser> | undefined;
  /**
   * The emptied profiles of earlier tests. The caches of these profiles contain the app, which halves the time to open
   * the app.
   */
  static #idle: Profile[] = [];
  /** The port of the first stage. Later stages use the same port, because caches depend on the address. */
  static #port = 0;
  readonly requests: { method: string; path: string; body: unknown }[] = [];
  readonly received: ClientMessage[] = [];
  /** The blobs that `/api/blob` serves, by hash. */
  readonly blobs = new Map<string, { bytes: Buffer; mimeType: string }>();
  /** Returns the answer to an HTTP request, or a promise of the answer; undefined for the default answer. */
  answer: (method: string, path: string, body: unknown) => unknown = () => undefined;
  /** Returns the error with which a request is refused; undefined if the request is not refused. */
  refuse: (path: string) => { code: string; message: string } | undefined = () => undefined;
  history = nothing;
  /** The folder of the built app. */
  webDir = dist;
  info = infoAtFirst();
  /** Whether a page that opens the session also receives the session's information, and not only its conversation. */
  sendsInfo = true;
  /** The other sessions that the server lists. */
  others: SessionSummary[] = [];
  readonly #http: Server;
  #profiles: Profile[] = [];
  /** The profile that tests use one after the other. */
  #shared: Profile | undefined;
  /** The sessions of earlier tests in the shared page. */
  #past: SessionSummary[] = [];
  /** The ids of the other sessions that earlier tests have listed in the shared page. */
  readonly #pastOthers: string[] = [];
  /** Whether the shared page may still be trying to reconnect. */
  #hasHungUp = false;
  #sockets: WebSocket[] = [];

  constructor() {
    if (!existsSync(join(dist, 'index.html'))) {
      throw new Error('The web app is not built: run "npm test", which builds it first.');
    }
    this.#http = createServer((request, response) => {
      void buffer(request).then(async (body) => {
        const { status, type, content } = await this.#respond(request, body);
        response.writeHead(status, {
          'content-type': type,
          'content-security-policy': request.url?.startsWith('/diagram-frame.html')
            ? framePolicy
            : policy,
          'cache-control': request.url?.startsWith('/assets/') ? 'max-age=3600' : 'no-store',
        });
        response.end(content);
      });
    });
    new WebSocketServer({ server: this.#http, path: '/ws' }).on('connection', (socket) => {
      this.#sockets.push(socket);
      socket.on('message', (data: Buffer) => this.#receive(JSON.parse(data.toString())));
    });
  }

  /** Closes all profiles. The browser stays open for the next test file, and ends when the test process ends. */
  static async end(): Promise<void> {
    for (const { context } of Stage.#idle.splice(0)) await context.close();
    sessionId = 's1';
  }

  static #launch(): Promise<Browser> {
    const { CHROMIUM_SHELL_PATH: shell, CHROMIUM_PATH: whole } = process.env;
    const preferred = Stage.isWholeBrowser ? whole : (shell ?? whole);
    Stage.#browser ??= chromium.launch({
      executablePath: preferred ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        ...(Stage.isWholeBrowser ? [] : ['--renderer-process-limit=1']),
      ],
    });
    return Stage.#browser;
  }

  static async #profile(options: ProfileOptions): Promise<Profile> {
    const idle = Stage.#idle.findIndex((one) => isDeepStrictEqual(one.options, options));
    const [profile] = idle === -1 ? [] : Stage.#idle.splice(idle, 1);
    if (profile !== undefined) return profile;
    const context = await (await Stage.#launch()).newContext(options);
    return { context, options, page: await context.newPage() };
  }

  /** Empties a profile, so that the next test can use it. */
  static async #empty({ context, options }: Profile): Promise<Profile> {
    const old = context.pages();
    // Open a page before the other pages are closed, so that the browser keeps its process for pages.
    const page = await context.newPage();
    for (const one of old) await one.close();
    await context.unrouteAll();
    await context.setOffline(false);
    await context.clearPermissions();
    await context.grantPermissions(options.permissions ?? []);
    const browser = await context.newCDPSession(page);
    const origin = `http://127.0.0.1:${Stage.#port}`;
    await browser.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await browser.detach();
    return { context, options, page };
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(Stage.#port, '127.0.0.1', resolve));
    Stage.#port = (this.#http.address() as AddressInfo).port;
  }

  /** Opens the session, or another `path`, in an empty browser profile. */
  async visit(rest: ProfileOptions = {}, path = `/session/${sessionId}`): Promise<Page> {
    const options: ProfileOptions = {
      viewport: { width: 1000, height: 700 },
      reducedMotion: 'reduce',
      ...rest,
    };
    const profile = await Stage.#profile(options);
    this.#profiles.push(profile);
    const { context, page } = profile;
    context.setDefaultTimeout(30_000);
    await page.goto(`http://127.0.0.1:${Stage.#port}${path}`);
    if (path.startsWith(`/session/${sessionId}`))
      await page.getByRole('log', { name: 'Conversation' }).waitFor();
    return page;
  }

  get port(): number {
    return Stage.#port;
  }

  /**
   * Opens the session in the page that tests share, in the same way as a click on the session. The first time, opens a
   * new page.
   */
  async visitShared(): Promise<Page> {
    if (this.#shared === undefined) {
      const page = await this.visit();
      this.#shared = this.#profiles.pop();
      return page;
    }
    const { page } = this.#shared;
    const { session } = this.info;
    this.send({
      type: 'sessions:changed',
      sessions: [session, ...this.others, ...this.#past.slice(-1)],
      removed: this.#pastOthers.filter((id) => !this.others.some((one) => one.sessionId === id)),
    });
    await page.mouse.move(0, 0);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    // Close the session's tab, because the session would otherwise stay mounted and hidden.
    await page.keyboard.press('Alt+w');
    await page.getByRole('main', { name: 'Start' }).waitFor();
    await page.evaluate((path) => {
      (document.activeElement as HTMLElement | null)?.blur();
      history.pushState(null, '', path);
      window.dispatchEvent(new PopStateEvent('popstate'));
    }, `/session/${sessionId}`);
    // All sessions have the same title. Therefore, wait until the page subscribes to the new session's id.
    const isShown = () =>
      this.received.some((one) => 'sessionId' in one && one.sessionId === sessionId);
    await expect.poll(isShown, { interval: 5 }).toBe(true);
    await page.getByRole('main', { name: session.title, exact: true }).waitFor();
    await page.getByRole('log', { name: 'Conversation' }).waitFor();
    return page;
  }

  /** Resets the server for the next test, with a new session. */
  begin(): void {
    const { session } = this.info;
    const title = `Past ${this.#past.length}`;
    this.#past.push({ ...session, title, state: 'idle', archived: true });
    this.#pastOthers.push(...this.others.map((one) => one.sessionId));
    sessionId = `s${this.#past.length + 1}`;
    this.history = nothing;
    this.info = infoAtFirst();
    this.sendsInfo = true;
    this.others = [];
    this.answer = () => undefined;
    this.refuse = () => undefined;
    this.requests.length = 0;
    this.received.length = 0;
    this.blobs.clear();
  }

  /** Cleans up after a test. Closes the shared page, unless the next test uses it (`keeps`). */
  async tidy(keeps: boolean): Promise<void> {
    const shared = this.#shared;
    if (shared !== undefined && !(keeps && !this.#hasHungUp && (await isAsOpened(shared)))) {
      this.#shared = undefined;
      this.#profiles.push(shared);
    }
    for (const profile of this.#profiles.splice(0)) Stage.#idle.push(await Stage.#empty(profile));
    this.#hasHungUp = false;
  }

  send(message: ServerMessage): void {
    for (const socket of this.#sockets) socket.send(JSON.stringify(message));
  }

  /** Sends changed information about the session. */
  sendInfo(info: Partial<SessionInfo>): void {
    this.info = { ...this.info, ...info };
    this.send({ type: 'session:info', sessionId, info: this.info });
  }

  /** Breaks every connection, as a server does when it stops. */
  hangUp(): void {
    this.#hasHungUp = true;
    for (const socket of this.#sockets.splice(0)) socket.terminate();
  }

  async close(): Promise<void> {
    await this.tidy(false);
    this.hangUp();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #receive(message: ClientMessage): void {
    this.received.push(message);
    if (message.type !== 'session:subscribe') return;
    const other = this.others.find((session) => session.sessionId === message.sessionId);
    if (other !== undefined) return this.#showOther(other);
    this.send({ type: 'session:history', sessionId, resumed: 'snapshot', ...this.history });
    if (this.sendsInfo) this.sendInfo({});
  }

  #showOther(session: SessionSummary): void {
    const { sessionId: id } = session;
    this.send({ type: 'session:history', sessionId: id, resumed: 'snapshot', ...nothing });
    const info = { session, queue: [], configOptions: [], commands: [] };
    this.send({ type: 'session:info', sessionId: id, info });
  }

  /** Sends new states of the other sessions. */
  change(...sessions: SessionSummary[]): void {
    const ids = new Set(sessions.map((session) => session.sessionId));
    this.others = [...this.others.filter((one) => !ids.has(one.sessionId)), ...sessions];
    this.send({ type: 'sessions:changed', sessions, removed: [] });
  }

  /** Stores bytes in the blob store, and returns the name under which they are stored. */
  storeBlob(bytes: Buffer, mimeType: string): string {
    const hash = createHash('sha256').update(bytes).digest('hex');
    this.blobs.set(hash, { bytes, mimeType });
    return `blob:${hash}`;
  }

  async #respond(request: IncomingMessage, given: Buffer) {
    const method = request.method ?? 'GET';
    const path = request.url ?? '/';
    if (!path.startsWith('/api/')) return serveFile(path, this.webDir);
    if (this.#past.some((one) => path.startsWith(`/api/session/${one.sessionId}/`)))
      return json({});
    const isUpload = path === '/api/blob';
    const body = isUpload ? given : readJson(given);
    this.requests.push({ method, path, body });
    const refusal = this.refuse(path);
    if (refusal !== undefined) return json({ error: refusal }, 400);
    const answer = await this.answer(method, path, body);
    if (answer !== undefined) return json(answer);
    if (isUpload) return json(this.#upload(given, request.headers['content-type'] ?? ''), 201);
    if (path.startsWith('/api/blob/')) return this.#blob(path.slice('/api/blob/'.length));
    return json(this.#default(path));
  }

  #upload(bytes: Buffer, mimeType: string): UploadedBlob {
    return { uri: this.storeBlob(bytes, mimeType), mimeType, size: bytes.length };
  }

  #blob(hash: string) {
    const blob = this.blobs.get(hash);
    if (blob !== undefined) return { status: 200, type: blob.mimeType, content: blob.bytes };
    const message = 'A file of this message is not stored any more. Attach it again.';
    return json({ error: { code: 'BLOB_NOT_FOUND', message } }, 404);
  }

  #default(path: string): unknown {
    const { session } = this.info;
    if (path.endsWith('/load')) return { sessionId, cliType: 'demo' };
    if (path === '/api/projects') {
      const all = Map.groupBy([session, ...this.others], ({ projectDir }) => projectDir);
      return {
        projects: [...all].map(([projectDir, sessions]) => ({
          projectId: projectDir,
          projectDir,
          name: projectDir.split('/').at(-1),
          sessions,
        })),
      };
    }
    if (path === '/api/agents') {
      const demo = { cliType: 'demo', name: 'Demo', description: '', available: true };
      return { agents: [demo] };
    }
    return {};
  }
}

/** Returns the stage of the running test. */
export let stage: Stage;

/** Gives each test its own stage. `set` prepares the stage before the test uses it. */
export function openStage(set?: () => void): void {
  beforeEach(async () => {
    stage = new Stage();
    set?.();
    await stage.open();
  });
  afterEach(() => stage.close());
  afterAll(() => Stage.end());
}

/**
 * Does the same as `openStage`, but tests that visit by `stage.visitShared` share one page. They open their sessions in
 * it one after the other, because opening the app takes longer than most tests. In long runs, each test has a page of
 * its own.
 */
export function shareStage(set?: () => void): void {
  if (atLength) {
    openStage(set);
    return;
  }
  beforeAll(async () => {
    stage = new Stage();
    await stage.open();
  });
  beforeEach(() => {
    stage.begin();
    set?.();
  });
  afterEach(({ task }) => stage.tidy(task.result?.state !== 'fail'));
  afterAll(async () => {
    await stage.close();
    await Stage.end();
  });
}

/**
 * Returns whether the page can be used for the next test: the last test has left nothing that would disturb another
 * test.
 */
async function isAsOpened({ context, page, options }: Profile): Promise<boolean> {
  if (context.pages().length > 1) return false;
  page.removeAllListeners();
  await page.unrouteAll();
  if (!isDeepStrictEqual(page.viewportSize(), options.viewport)) return false;
  const tabs = page.getByRole('navigation', { name: 'Open sessions' }).getByRole('link');
  if ((await tabs.count()) > 1) return false;
  const left = 'dialog[open], [role="menu"], [role="listbox"], [role="status"]:not(main *)';
  return (await page.locator(left).filter({ visible: true, hasText: /./ }).count()) === 0;
}

function serveFile(path: string, dir: string) {
  const file = join(dir, path);
  const isFile = extname(path) !== '' && file.startsWith(dir) && existsSync(file);
  if (!isFile && path.startsWith('/assets/')) return { ...json({}), status: 404 };
  const shown = isFile ? file : join(dir, 'index.html');
  return { status: 200, type: types[extname(shown)] ?? '', content: readFileSync(shown) };
}

function readJson(body: Buffer): unknown {
  return body.length === 0 ? undefined : JSON.parse(body.toString());
}

function json(answer: unknown, status = 200) {
  return { status, type: 'application/json', content: JSON.stringify(answer) };
}
