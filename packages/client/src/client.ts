import { Files } from './files/files.ts';
import { type FileStorage, memoryFiles } from './files/storage.ts';
import { ApiError } from './http/api-error.ts';
import { closeSilentConnections, RequestAborter } from './http/request-aborter.ts';
import { createRequests, type Requests } from './http/requests.ts';
import { Outbox } from './outbox/outbox.ts';
import { memoryOutbox, type OutboxStorage } from './outbox/storage.ts';
import { RunStore } from './run/run-store.ts';
import { SessionStore } from './session/session-store.ts';
import { SessionsStore } from './sessions/sessions-store.ts';
import { type ConnectionStatus, LiveSocket } from './socket/live-socket.ts';
import { Cell, type Store } from './store.ts';

export interface ClientOptions {
  /** The server's address, e.g. `http://127.0.0.1:4400`. In a browser, the default is the page's own origin. */
  baseUrl?: string;
  /** The bearer token of a program. A browser needs no token, because its cookie and `key` sign it in. */
  token?: string;
  /** Returns the key that sign-in has stored for the page's origin (`localStorage`, `liminal:key`). */
  key?: () => string | undefined;
  /** The storage of messages that the server may not have received yet; by default in memory. */
  outbox?: OutboxStorage;
  /** The storage of the files of messages; by default in memory. */
  files?: FileStorage;
  /**
   * Whether the client subscribes to sessions over a WebSocket; default: true. If false, only requests and files work.
   */
  isLive?: boolean;
  /**
   * Whether messages that begin with `!` are shell commands of their sender. Must be false if other people wrote the
   * text.
   */
  runCommands?: boolean;
}

/** A client of one server: requests, live sessions and the state of the connection. */
export interface LiminalClient {
  readonly requests: Requests;
  readonly connection: Store<ConnectionStatus>;
  readonly sessions: SessionsStore;
  /** The files of messages, on this device and on the server. */
  readonly files: Files;
  /**
   * Returns the session's store. The first call creates the store and subscribes to the session; the subscription lasts
   * until `release`.
   */
  session(sessionId: string): SessionStore;
  /** Ends the subscription to a session, and removes the session's store from the client. */
  release(sessionId: string): void;
  /** Follows one run by its canonical events. The caller must close the store that is returned. */
  run(runId: string): RunStore;
  /** Reconnects now, without waiting until the next attempt is due. */
  retry(): void;
  close(): void;
}

export function createClient(options: ClientOptions = {}): LiminalClient {
  const baseUrl = (options.baseUrl ?? '').replace(/\/$/, '');
  const aborter = new RequestAborter();
  const requests = createRequests({ baseUrl, token: options.token, key: options.key, aborter });
  const socket = new LiveSocket({
    open: () => openSocket(baseUrl, options),
    isRefused: () => isRefused(requests),
  });
  aborter.requestTrouble.on(() => socket.check());
  socket.wentSilent.on(() => {
    aborter.abort();
    void closeSilentConnections(baseUrl);
  });
  const connection = new Cell<ConnectionStatus>(socket.status);
  socket.statusChanged.on(() => connection.set(socket.status));
  const sessions = new SessionsStore({ socket, requests });
  const isConnected = () => socket.status.state === 'open';
  const files = new Files({ requests, storage: options.files ?? memoryFiles(), isConnected });
  const storage = options.outbox ?? memoryOutbox();
  const { runCommands } = options;
  const outbox = new Outbox({ requests, files, storage, isConnected, runCommands });
  socket.opened.on(() => {
    files.flush();
    outbox.flush();
  });
  const opened = new Map<string, SessionStore>();

  const open = (sessionId: string) => {
    const store = new SessionStore(sessionId, { socket, requests, outbox });
    opened.set(sessionId, store);
    store.open();
    return store;
  };
  const release = (sessionId: string) => {
    opened.get(sessionId)?.close();
    opened.delete(sessionId);
  };
  if (options.isLive ?? true) socket.start();
  void outbox.open();
  return {
    requests,
    connection,
    sessions,
    files,
    session: (sessionId) => opened.get(sessionId) ?? open(sessionId),
    release,
    run: (runId) => {
      const run = new RunStore(runId, { baseUrl, token: options.token, key: options.key });
      void run.open();
      return run;
    },
    retry: () => socket.retry(),
    close: () => {
      for (const sessionId of opened.keys()) release(sessionId);
      sessions.close();
      outbox.close();
      files.close();
      socket.close();
    },
  };
}

/**
 * Only programs can send a token with a WebSocket, because Node accepts headers for a WebSocket and browsers do not.
 */
const SocketWithHeaders = WebSocket as unknown as new (
  url: string,
  options: { headers: Record<string, string> },
) => WebSocket;

function openSocket(baseUrl: string, { token, key }: ClientOptions): WebSocket {
  const base = baseUrl === '' ? location.origin : baseUrl;
  const url = `${base.replace(/^http/, 'ws')}/ws`;
  if (token === undefined) {
    const storedKey = key?.();
    return new WebSocket(
      url,
      storedKey === undefined ? [] : ['liminal', `liminal.key.${storedKey}`],
    );
  }
  return new SocketWithHeaders(url, { headers: { authorization: `Bearer ${token}` } });
}

async function isRefused(requests: Requests): Promise<boolean> {
  try {
    await requests.listAgents();
    return false;
  } catch (error) {
    return error instanceof ApiError && (error.status === 401 || error.status === 403);
  }
}
