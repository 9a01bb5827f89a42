/** Generates frames on one WebSocket: valid frames by `ClientMessage`, also in floods, and invalid frames. */
import { ClientMessage, ServerMessage } from '@liminal/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { Connection } from '../../../bench/parts/connection.ts';
import { defaultLimits } from '../../../packages/server/src/limits.ts';
import { fewHarms, type Harm, linesOf } from '../hostile/stream.ts';
import { SchemaValues } from './from-schema.ts';
import { known } from './known.ts';
import type { FuzzStage } from './stage.ts';

interface Frames {
  messages: object[];
  harms: Harm[];
  /** Bytes that are sent as a binary frame, and the number of lines that are sent before them. */
  binary: { after: number; bytes: Uint8Array } | undefined;
  /** Whether a turn runs while the lines are sent. */
  turn: boolean;
  /** Whether the client reads nothing until it has sent all its frames. */
  stalls: boolean;
}

const message = new SchemaValues({ known }).of(z.toJSONSchema(ClientMessage));
const ping = { type: 'ping' };

export const frames: fc.Arbitrary<Frames> = fc.record(
  {
    messages: fc.array(message as fc.Arbitrary<object>, { minLength: 1, maxLength: 12 }),
    harms: fewHarms,
    binary: fc.option(
      fc.record(
        { after: fc.nat({ max: 12 }), bytes: fc.uint8Array({ maxLength: 200 }) },
        { noNullPrototype: true },
      ),
      { nil: undefined },
    ),
    turn: fc.boolean(),
    stalls: fc.boolean(),
  },
  { noNullPrototype: true },
);

const { frameBytes } = defaultLimits;

/** Close codes that report a fault of the client: the client broke a rule of WebSockets, or exceeded a limit. */
const clientsFault = [1002, 1003, 1007, 1008, 1009];

export async function playFrames(input: Frames, stage: FuzzStage): Promise<void> {
  const { binary, turn, stalls } = input;
  const script = [...input.messages];
  const lines = linesOf({ script: 0, length: script.length, harms: input.harms }, [script]);
  // If the rest of a frame arrives after the server's close frame was sent, the operating system may drop the close
  // frame.
  const isTooLong = lines.some((line) => Buffer.byteLength(line) > frameBytes);
  const socket = await new Connection(stage.input.server.origin, stage.token).open();
  const over = Promise.withResolvers<void>();
  const wrong: unknown[] = [];
  let pongs = 0;
  let expected = Infinity;
  socket.on('error', over.reject);
  socket.on('close', (code) => {
    if (!(isTooLong ? [...clientsFault, 1006] : clientsFault).includes(code))
      wrong.push(`The server closed with ${code}.`);
    over.resolve();
  });
  socket.on('message', (data: Buffer) => {
    const { data: said, error } = ServerMessage.safeParse(JSON.parse(data.toString()));
    if (error) wrong.push(`${z.prettifyError(error)} in ${data.toString().slice(0, 1_000)}`);
    if (said?.type === 'session:error' && said.code === 'INTERNAL') wrong.push(said);
    pongs += said?.type === 'pong' ? 1 : 0;
    if (pongs >= expected) over.resolve();
  });
  try {
    if (stalls) socket.pause();
    if (turn) await stage.startTurn('explain');
    for (const [index, line] of lines.entries()) {
      const sent = await stage.fill(line, (text) => JSON.stringify(text).slice(1, -1));
      stage.note(sent);
      socket.send(sent);
      if (binary?.after === index) socket.send(binary.bytes);
    }
    // Every ping must get its pong.
    expected = lines.filter(isPing).length + 1;
    socket.send(JSON.stringify(ping));
    socket.resume();
    await over.promise;
  } finally {
    socket.removeAllListeners('close').terminate();
  }
  expect(wrong).toEqual([]);
}

function isPing(line: string): boolean {
  try {
    return ClientMessage.safeParse(JSON.parse(line)).data?.type === 'ping';
  } catch {
    return false;
  }
}
