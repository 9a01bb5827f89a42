import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import type { Gate } from './gate.ts';

/**
 * The connection ends here, as in a failing network. To be sure that the client has read the text before the cut, put a
 * gate before the cut.
 */
export interface Cut {
  type: 'cut';
}

/** The model sends nothing for `ms` milliseconds. */
export interface Pause {
  type: 'pause';
  ms: number;
}

/** The incidents between two pieces of a streamed answer, for any API. */
export type StreamIncident = Gate | Pause | Cut;

/** The pace at which a text is sent, and the size of its deltas. */
export interface Pace {
  /** The number of characters in a delta. Default: each part is one delta. */
  chunk?: number;
  /** The milliseconds between two deltas. Default: 0. */
  delayMs?: number;
}

export const cut: Cut = { type: 'cut' };

export const pause = (ms: number): Pause => ({ type: 'pause', ms });

/** Thrown to end the playing of a reply when the script has ended the reply's connection. */
export class ConnectionCut extends Error {}

const cutAfterMs = 100;

/** Plays an incident in a response that is being streamed. */
export async function playIncident(
  response: ServerResponse,
  incident: StreamIncident,
): Promise<void> {
  switch (incident.type) {
    case 'gate':
      return incident.pass();
    case 'pause':
      return sleep(incident.ms);
    case 'cut':
      await new Promise<void>((resolve) => response.write(': cut\n\n', () => resolve()));
      // Wait before the cut: if a client receives the end together with the beginning, it may not read the text in
      // between.
      await sleep(cutAfterMs);
      // Use `end`, because `destroy` would reset the connection, and a reset can overtake data that was sent before.
      response.socket?.end();
      throw new ConnectionCut();
  }
}

/** Splits `value` into pieces, and passes them to `send` at the pace. */
export async function paced(
  value: string,
  { chunk = value.length, delayMs }: Pace,
  send: (piece: string) => void,
): Promise<void> {
  const size = Math.max(1, chunk);
  for (let at = 0; at < value.length; at += size) {
    send(value.slice(at, at + size));
    if (delayMs !== undefined) await sleep(delayMs);
  }
}
