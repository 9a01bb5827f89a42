/**
 * The three transports through which an ACP client connects to the server. Each transport can also send lines that are
 * not messages of the protocol.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { LineSplitter } from '@liminal/protocol';
import { expect } from 'vitest';
import { Connection } from '../../../bench/parts/connection.ts';
import { expectNamed, type FuzzStage } from './stage.ts';

export interface AcpLink {
  /** Sends a line. Resolves when the next line may be sent. */
  sendLine(line: string): Promise<void>;
  /** Resolves when the connection has been closed. */
  closed: Promise<unknown>;
  leave(how: 'end' | 'reset'): Promise<void>;
}

type Open = (
  stage: FuzzStage,
  agent: string,
  onMessage: (json: string) => void,
) => Promise<AcpLink>;

/** Waits until the connection is closed. A broken connection is also closed, and `closed` reports this. */
const ignore = (): void => undefined;

/** Close codes that report a fault of the client. */
const clientsFault = [1000, 1002, 1003, 1005, 1006, 1007, 1008, 1009];

const openWebSocket: Open = async (stage, agent, hear) => {
  const connection = new Connection(stage.input.server.origin, stage.token);
  const socket = await connection.open(`/acp?agent=${agent}`);
  let isInitialized = false;
  socket.on('error', ignore).on('message', (data: Buffer) => {
    isInitialized = true;
    hear(data.toString());
  });
  const closed = once(socket, 'close').then(([code]) => {
    // Before the first answer, the SDK also uses 1011 for faults of the client.
    expect(isInitialized ? clientsFault : [...clientsFault, 1011]).toContain(code);
  });
  // Ignore the failure here: `leave` awaits the same promise, and reports the failure.
  closed.catch(ignore);
  return {
    closed,
    async sendLine(line) {
      if (socket.readyState === socket.OPEN) socket.send(line);
    },
    async leave(how) {
      if (how === 'end') socket.close();
      else socket.terminate();
      await closed;
    },
  };
};

const openLines: Open = async (stage, agent, hear) => {
  const socket = await new Promise<Socket>((resolve, reject) => {
    request({
      host: '127.0.0.1',
      port: stage.port,
      path: `/acp?agent=${agent}`,
      headers: {
        authorization: `Bearer ${stage.token}`,
        connection: 'Upgrade',
        upgrade: 'acp-lines',
      },
    })
      .once('error', reject)
      .once('upgrade', (_, upgraded) => resolve(upgraded))
      .end();
  });
  socket.on('error', ignore);
  socket.setEncoding('utf8').on('data', byLine(hear));
  const closed = once(socket, 'close');
  return {
    closed,
    async sendLine(line) {
      if (socket.writable) socket.write(`${line}\n`);
    },
    async leave(how) {
      if (how === 'end') socket.end();
      else socket.resetAndDestroy();
      await closed;
    },
  };
};

/**
 * Opens the transport streamable HTTP. Each message is a POST. The connection has a stream, and so has each session.
 */
const openHttp: Open = async (stage, agent, hear) => {
  const path = `/acp?agent=${agent}`;
  const streams = new Set<() => void>();
  const followed = new Set<string>();
  let connection: string | undefined;

  const follow = (sessionId: string) => {
    if (connection === undefined || followed.has(sessionId)) return;
    followed.add(sessionId);
    const headers = {
      ...sessionHeaders(sessionId),
      accept: 'text/event-stream',
      authorization: `Bearer ${stage.token}`,
    };
    const asked = request({ host: '127.0.0.1', port: stage.port, path, headers, agent: false });
    asked.on('error', ignore);
    asked.once('response', (response) => {
      const take = byLine((line) => {
        if (line.startsWith('data:')) hear(line.slice(5));
      });
      response.setEncoding('utf8').on('error', ignore).on('data', take);
    });
    streams.add(() => asked.destroy());
    asked.end();
  };
  const sessionHeaders = (sessionId: string): Record<string, string> => ({
    ...(connection !== undefined && { 'acp-connection-id': connection }),
    ...(sessionId !== '' && { 'acp-session-id': sessionId }),
  });

  return {
    closed: new Promise(() => undefined),
    async sendLine(line) {
      const sessionId = sessionIn(line);
      follow(sessionId);
      const headers = { ...sessionHeaders(sessionId), 'content-type': 'application/json' };
      const answer = await stage.ask({ method: 'POST', path, headers, body: line });
      if (answer.status >= 500) expectNamed(answer.status, answer.text);
      const opened = answer.headers['acp-connection-id'];
      if (typeof opened !== 'string') return;
      connection = opened;
      hear(answer.text);
      follow('');
    },
    async leave() {
      for (const end of streams) end();
      if (connection === undefined) return;
      const answer = await stage.ask({ method: 'DELETE', path, headers: sessionHeaders('') });
      expect(answer.status, answer.text).toBe(202);
    },
  };
};

export const openings: Record<string, Open> = {
  websocket: openWebSocket,
  lines: openLines,
  http: openHttp,
};

/**
 * Returns the session id in the form in which a client library puts it into a header; empty if a header cannot contain
 * the id.
 */
function sessionIn(line: string): string {
  try {
    const { params } = JSON.parse(line) as { params?: { sessionId?: unknown } };
    const sessionId = params?.sessionId;
    return typeof sessionId === 'string' && /^[\x21-\x7e]{1,2000}$/.test(sessionId)
      ? sessionId
      : '';
  } catch {
    return '';
  }
}

/** Passes on the complete lines of a text that arrives in pieces. */
function byLine(onLine: (line: string) => void): (text: string) => void {
  const lines = new LineSplitter();
  return (text) => {
    for (const line of lines.push(text)) onLine(line);
  };
}
