import type { FoldOutput, ServerMessage } from '@liminal/protocol';
import type { Outgoing } from '../api.ts';
import type { TracedRun } from '../tracing/index.ts';

/** Wraps a message so that many subscribers share one encoding. */
export function outgoing(message: ServerMessage, run?: TracedRun): Outgoing {
  let text: string | undefined;
  let bytes: Buffer | undefined;
  const json = (): string => (text ??= JSON.stringify(message));
  return {
    message,
    run,
    json,
    bytes: () => (bytes ??= Buffer.from(json())),
  };
}

/** A fold's output as a message of the wire protocol. */
export function outputMessage(
  output: FoldOutput,
  sessionId: string,
  cursor: string,
): ServerMessage {
  switch (output.kind) {
    case 'upsert':
      return { type: 'session:upsert', sessionId, payload: output.upsert, cursor };
    case 'turn':
      return { type: 'session:turn', sessionId, payload: output.event, cursor };
    case 'append': {
      const { turnId, itemId, at, text } = output;
      return { type: 'session:append', sessionId, turnId, itemId, at, text, cursor };
    }
    case 'discard': {
      const { turnId, itemId } = output;
      return { type: 'session:discard', sessionId, turnId, itemId, cursor };
    }
  }
}
