/**
 * Tests arbitrary contents of a session: every interface returns the contents as valid JSON in UTF-8, and the contents
 * cannot control a terminal.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMessage, type SessionView } from '@liminal/client';
import {
  HistoryPage,
  isTerminal,
  Response,
  SearchResult,
  SendResult,
  type ServerMessage,
  SessionHandle,
} from '@liminal/protocol';
import { openSqliteStorage } from '@liminal/storage/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { z } from 'zod';
import { cleanText } from '../../../packages/cli/src/terminal/clean-text.ts';
import { jsonLine } from '../../../packages/cli/src/terminal/json-line.ts';
import { formatLine } from '../../../packages/cli/src/terminal/lines.ts';
import { TextStream } from '../../../packages/cli/src/terminal/text-stream.ts';
import { Transcript } from '../../../packages/cli/src/transcript.ts';
import { emptyView } from '../../../packages/client/src/session/view.ts';
import { EventStreamReader } from '../../../packages/server/test/event-stream-reader.ts';
import { bearer, startServer, type TestServer } from '../../../packages/server/test/harness.ts';
import { SocketReader } from '../../../packages/server/test/socket-reader.ts';
import { patience } from '../length.ts';
import { hostileRun } from './events.ts';
import { playHostile, share } from './play.ts';
import { hostileStream } from './stream.ts';

/**
 * Matches control characters except line ends and tabs, half surrogate pairs, characters that change the writing
 * direction, and characters without width.
 */
const steering =
  /[^\P{Cc}\n\t]|\p{Cs}|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/u;
/** Matches the characters of `steering`, and all further characters that JSON output must escape. */
const unescaped = /[^\P{Cc}\n]|\p{Cs}|[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

function surface({ url, agent, folder }: TestServer) {
  const ask = async <T>(path: string, schema: z.ZodType<T>, body?: object): Promise<T> => {
    const asked = body && {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await fetch(url + path, asked ?? { headers: bearer });
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await answer.arrayBuffer());
    expect(answer.status, text.slice(0, 500)).toBeLessThan(300);
    return schema.parse(JSON.parse(text));
  };
  const send = async (sessionId: string) =>
    (await ask(`/api/session/${sessionId}/send`, SendResult, { message: 'Go.' })).turnId;
  return {
    ask,
    create: async () =>
      (await ask('/api/session/create', SessionHandle, { cliType: 'scripted', projectDir: folder }))
        .sessionId,
    send,
    /** Returns all pages together as one page. */
    async history(sessionId: string): Promise<HistoryPage> {
      const all: HistoryPage = { entries: [], turns: [], cursor: '', hasMore: false };
      for (let before = ''; ;) {
        const page = await ask(`/api/session/${sessionId}/history${before}`, HistoryPage);
        all.entries.unshift(...page.entries);
        all.turns.unshift(...page.turns);
        if (!page.hasMore) return all;
        before = `?before=${encodeURIComponent(page.before ?? '')}`;
      }
    },
    /** Plays a turn in a session other than the tested one. */
    async others(socket: SocketReader, sessionId: string): Promise<void> {
      const turnId = await send(sessionId);
      agent.end(sessionId);
      await socket.until(() => socket.messages.some((message) => hasEnded(message, turnId)));
    },
  };
}

/** If a reader could not keep up, it gets the newest state instead of the missed messages. */
function hasEnded(message: ServerMessage, turnId: string): boolean {
  if (message.type === 'session:turn') {
    return message.payload.turnId === turnId && message.payload.type !== 'turn_started';
  }
  if (message.type !== 'session:history') return false;
  return message.turns.some((turn) => turn.turnId === turnId && turn.status !== 'in_progress');
}

/** Returns the output of `run` and `tail` for the messages, both as text and as JSON. */
function inTerminal(messages: readonly ServerMessage[], sessionId: string) {
  const [spoken, lines, json]: string[][] = [[], [], []];
  const text = new TextStream((words) => spoken?.push(cleanText(words)));
  const transcript = new Transcript();
  let view: SessionView = emptyView(sessionId);
  for (const message of messages) {
    view = applyMessage(view, message, 0);
    if (message.type === 'session:info') continue;
    for (const turn of view.turns) text.update(turn);
    for (const line of transcript.read(view)) {
      lines?.push(cleanText(formatLine(line)));
      json?.push(jsonLine(line));
    }
  }
  text.breakLine();
  return { text: [...(spoken ?? []), ...(lines ?? [])].join('\n'), json: json ?? [] };
}

test(
  'SAFE: arbitrary contents can be read through HTTP, WebSocket, event streams and terminals',
  { timeout: patience(share(15)) },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'liminal-surfaces-'));
    onTestFinished(async () => rm(dataDir, { recursive: true }));
    const server = await startServer({}, await openSqliteStorage(dataDir));
    onTestFinished(() => server.close());
    const { agent, port } = server;
    const { ask, create, send, history, others } = surface(server);
    const socket = await SocketReader.open(port);
    onTestFinished(() => socket.close());
    const healthy = await create();
    socket.send({ type: 'session:subscribe', sessionId: healthy });
    await playHostile(share(15), hostileStream, async (stream) => {
      const payloads = hostileRun(stream).map(({ payload }) => payload);
      const end = payloads.findIndex(isTerminal);
      const said = payloads.slice(1, end < 0 ? payloads.length : end);
      const sessionId = await create();
      socket.forget();
      socket.send({ type: 'session:subscribe', sessionId, deltas: true });
      await socket.waitFor('session:info', (message) => message.sessionId === sessionId);
      const turnId = await send(sessionId);
      for (const payload of said) agent.emit(sessionId, payload);
      agent.end(sessionId);
      await socket.until(() => socket.messages.some((message) => hasEnded(message, turnId)));
      await others(socket, healthy);
      const page = await history(sessionId);
      const response = await ask(`/api/run/${page.turns[0]?.runId ?? ''}`, Response);
      const words = JSON.stringify(response.outputItems).slice(0, 200).toWellFormed();
      await ask(`/api/search?q=${encodeURIComponent(words)}`, SearchResult);
      const events = await EventStreamReader.open(port, `/api/session/${sessionId}/stream`);
      await events.waitFor('history');
      events.close();
      const mine = socket.messages.filter(
        (message) => 'sessionId' in message && message.sessionId === sessionId,
      );
      const { text, json } = inTerminal(mine, sessionId);
      expect(steering.exec(text)?.[0]).toBeUndefined();
      for (const line of json) {
        expect(unescaped.exec(line)?.[0]).toBeUndefined();
        expect(JSON.parse(line)).toBeInstanceOf(Object);
      }
      socket.send({ type: 'session:unsubscribe', sessionId });
      await server.runtime.kill(sessionId);
      return { inputSize: JSON.stringify(said).length, stored: JSON.stringify(response).length };
    });
  },
);
