import { joinTurns } from '@liminal/client';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { closedPipeExit, outputClosedSignal } from '../terminal/failed-output.ts';
import { jsonLine } from '../terminal/json-line.ts';
import { formatLine } from '../terminal/lines.ts';
import { type TranscriptLine, Transcript } from '../transcript.ts';
import { watch } from '../watch.ts';

export interface TailFlags {
  json?: boolean;
}

/**
 * Follows a session until a signal. If no server runs, the session cannot change, so the command prints the stored
 * session and ends.
 */
export async function tail(
  sessionId: string,
  { json }: TailFlags,
  config: Config,
): Promise<number> {
  const { client, isShared, close } = await connect(config);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const outputClosed = outputClosedSignal(process.stdout);
  const transcript = new Transcript();
  const print = json ? (line: TranscriptLine) => console.log(jsonLine(line)) : printText;
  try {
    await watch(
      client,
      sessionId,
      (view) => {
        // With `--json`, print every item of every turn.
        const turns = json ? view.turns : joinTurns(view.turns);
        for (const line of transcript.read({ turns })) print(line);
        return !isShared;
      },
      AbortSignal.any([stop.signal, outputClosed]),
    );
    return outputClosed.aborted ? closedPipeExit : 0;
  } finally {
    await close();
  }
}

function printText(line: TranscriptLine): void {
  const text = formatLine(line);
  if (text !== '') console.log(text);
}
