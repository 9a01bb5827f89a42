import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LineSplitter } from '@liminal/protocol/line-splitter';
import { readMessage } from './json-rpc.ts';

export interface AcpAddress {
  /** Without a trailing slash. */
  url: string;
  token: string;
  /** With its query. */
  path: string;
}

/** A connection that carries one message per line. */
export interface LineConnection {
  /** Resolves when the connection has been closed. */
  closed: Promise<void>;
  /**
   * Returns false if the caller should wait before it writes the next line.
   * @param onTaken - Called when the system has accepted this line.
   */
  write(line: string, onTaken?: () => void): boolean;
  pause(): void;
  resume(): void;
  /** Resolves when the system has accepted all lines, or after a time limit if the server has stopped reading. */
  close(): Promise<void>;
}

/** How long a server may take to accept the upgrade, in ms. */
const upgradeTimeoutMs = 30_000;
/** How long a server may take to read the last lines, in ms. */
const closeTimeoutMs = 5_000;
/** The largest response head or error, in bytes. */
const maxResponseBytes = 64 * 1024;

/**
 * Opens a connection that carries one message per line. Writes the upgrade request by hand, since Node's HTTP client
 * takes more memory than all other code of this program. Rejects with `ECONNREFUSED` or `ECONNRESET` if no server runs,
 * or with the server's message if the server refuses the connection.
 */
export async function connectLines(
  { url, token, path }: AcpAddress,
  onLine: (line: string) => void,
): Promise<LineConnection> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname.replaceAll(/^\[|\]$/g, ''));
  socket.setNoDelay(true).setEncoding('utf8');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: acp-lines\r\n\r\n`,
  );
  const first = await awaitUpgrade(socket);
  const lines = new LineSplitter();
  const take = (text: string): void => {
    for (const line of lines.push(text)) onLine(line);
  };
  take(first);
  socket.on('data', take);
  return {
    closed,
    write: (line, onTaken) => socket.write(`${line}\n`, onTaken),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: async () => {
      const taken = new Promise<void>((resolve) => socket.end(resolve));
      await Promise.race([closed, taken, delay(closeTimeoutMs, undefined, { ref: false })]);
    },
  };
}

/** Resolves with the bytes after the response head once the server has accepted the upgrade. */
async function awaitUpgrade(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = '';
    const refused = (): void => reject(upgradeError(response));
    const failed = (error: Error): void => reject(error);
    const read = (text: string): void => {
      response += text;
      const end = response.indexOf('\r\n\r\n');
      const isAccepted = response.startsWith('HTTP/1.1 101 ');
      if (isAccepted && end !== -1) {
        socket.off('data', read).off('close', refused).off('error', failed);
        socket.setTimeout(0).on('error', () => socket.destroy());
        resolve(response.slice(end + 4));
      } else if (response.length > maxResponseBytes) socket.destroy();
    };
    socket.setTimeout(upgradeTimeoutMs, () => socket.destroy(new Error(timeoutMessage)));
    socket.on('data', read).once('close', refused).once('error', failed);
  });
}

const timeoutMessage = `The Liminal server did not answer within ${upgradeTimeoutMs / 1000} s. Try again, or restart it.`;

/** Returns the server's error, with the code `ECONNRESET` if the server is about to stop. */
function upgradeError(response: string): Error {
  const [status = ''] = response.split('\r\n');
  const isEnding = status === '' || status.startsWith('HTTP/1.1 503 ');
  const body = response.slice(response.indexOf('{'), response.lastIndexOf('}') + 1);
  const error = (readMessage(body)?.error ?? {}) as { message?: unknown };
  const message =
    typeof error.message === 'string'
      ? error.message
      : `The server does not accept ACP clients: ${status === '' ? 'it closed the connection' : status}.`;
  return Object.assign(new Error(message), isEnding && { code: 'ECONNRESET' });
}
