/**
 * The shortest path from the source to the page: a WebSocket on loopback. `node direct-server.ts SESSION` prints its
 * port. A client's message is `COUNT RATE`: the server plays the source, and sends each delta at once, in a message
 * that the page understands.
 */
import { once } from 'node:events';
import type { ServerMessage } from '@liminal/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import { readSource } from './read-source.ts';

interface SourceMessage {
  type: string;
  event?: { type: string; delta?: { text?: string } };
}

const [sessionId = ''] = process.argv.slice(2);
const cursor = 'direct:0';
let turns = 0;

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const [count = 0, rate = 0] = data.toString().split(' ').map(Number);
    void play(socket, count, rate);
  });
});
const address = server.address();
console.log(typeof address === 'object' ? address?.port : address);

async function play(socket: WebSocket, count: number, rate: number): Promise<void> {
  turns += 1;
  const turnId = `direct-${turns}`;
  const itemId = `${turnId}:0`;
  const say = (message: ServerMessage): void => socket.send(JSON.stringify(message));
  const ids = { turnId, sessionId };
  const started = { type: 'turn_started', ...ids, modelId: 'bench', providerId: 'bench' } as const;
  const now = new Date().toISOString();
  const item = {
    type: 'message',
    ...ids,
    itemId,
    origin: 'agent',
    sourceTimestamp: now,
    emittedAt: now,
  } as const;
  let content = '';
  say({ type: 'session:turn', sessionId, payload: started, cursor });
  say({
    type: 'session:upsert',
    sessionId,
    payload: { ...item, status: 'create', content },
    cursor,
  });
  await readSource({ count, rate }, (said) => {
    const text = (said as SourceMessage).event?.delta?.text;
    if (text === undefined) return;
    say({ type: 'session:append', ...ids, itemId, at: content.length, text, cursor });
    content += text;
  });
  const payload = { ...item, status: 'complete', content } as const;
  say({ type: 'session:upsert', sessionId, payload, cursor });
  const complete = { type: 'turn_complete', ...ids, status: 'completed' } as const;
  say({ type: 'session:turn', sessionId, payload: complete, cursor });
}
