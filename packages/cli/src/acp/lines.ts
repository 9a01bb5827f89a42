import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readMessage } from './json-rpc.ts';
import { splitLines } from './split-lines.ts';

export interface Place {
  /** Without a trailing slash. */
  url: string;
  token: string;
  /** With its query. */
  path: string;
}

/** A connection on which each message is a line. */
export interface Lines {
  /** Resolves when the connection is no more. */
  closed: Promise<void>;
  /** False if the next one should wait. @param onTaken - Called when the system has taken this one. */
  write(line: string, onTaken?: () => void): boolean;
  pause(): void;
  resume(): void;
  /** Resolves when the system has taken all that was written, or a server that reads no more has had its time. */
  close(): Promise<void>;
}

/** How long a server may take to agree, ms. */
const patience = 30_000;
/** How long a server may take to read what was said last, ms. */
const patienceAtEnd = 5_000;
/** The most that an answer's head, or a refusal, may have, bytes. */
const mostAnswer = 64 * 1024;

/**
 * Opens lines to a server: the request of an upgrade by hand, since Node's HTTP takes more memory than all the rest.
 * Rejects if there is no server (`ECONNREFUSED`, `ECONNRESET`), or in its own words where it refuses.
 */
export async function connectLines(
  { url, token, path }: Place,
  onLine: (line: string) => void,
): Promise<Lines> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname.replaceAll(/^\[|\]$/g, ''));
  socket.setNoDelay(true).setEncoding('utf8');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: acp-lines\r\n\r\n`,
  );
  const first = await answered(socket);
  const take = splitLines(onLine);
  take(first);
  socket.on('data', take);
  return {
    closed,
    write: (line, onTaken) => socket.write(`${line}\n`, onTaken),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: async () => {
      const taken = new Promise<void>((resolve) => socket.end(resolve));
      await Promise.race([closed, taken, delay(patienceAtEnd, undefined, { ref: false })]);
    },
  };
}

/** Resolves to what comes behind the head of an answer that agrees. */
async function answered(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const refused = (): void => reject(refusal(answer));
    const failed = (error: Error): void => reject(error);
    const read = (text: string): void => {
      answer += text;
      const end = answer.indexOf('\r\n\r\n');
      const isAgreed = answer.startsWith('HTTP/1.1 101 ');
      if (isAgreed && end !== -1) {
        socket.off('data', read).off('close', refused).off('error', failed);
        socket.setTimeout(0).on('error', () => socket.destroy());
        resolve(answer.slice(end + 4));
      } else if (answer.length > mostAnswer) socket.destroy();
    };
    socket.setTimeout(patience, () => socket.destroy(new Error(slow)));
    socket.on('data', read).once('close', refused).once('error', failed);
  });
}

const slow = `The Liminal server does not answer within ${patience / 1000} s. Try again, or restart it.`;

/** A refusal in the server's own words; with the code of a reset connection if the server is about to end. */
function refusal(answer: string): Error {
  const [status = ''] = answer.split('\r\n');
  const isEnding = status === '' || status.startsWith('HTTP/1.1 503 ');
  const body = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
  const error = (readMessage(body)?.error ?? {}) as { message?: unknown };
  const message =
    typeof error.message === 'string'
      ? error.message
      : `The server does not take ACP clients: ${status === '' ? 'it hung up' : status}.`;
  return Object.assign(new Error(message), isEnding && { code: 'ECONNRESET' });
}
