import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { formatLine } from '../terminal/lines.ts';
import { type Line, Transcript } from '../transcript.ts';
import { watch } from '../watch.ts';

export interface TailFlags {
  json?: boolean;
}

/** Follows a session until a signal; without a running server nothing can happen in it, so what there is is all. */
export async function tail(
  sessionId: string,
  { json }: TailFlags,
  config: Config,
): Promise<number> {
  const { client, isShared, close } = await connect(config);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const transcript = new Transcript();
  const print = json ? printJson : printText;
  try {
    await watch(
      client,
      sessionId,
      (view) => {
        for (const line of transcript.read(view)) print(line);
        return !isShared;
      },
      stop.signal,
    );
    return 0;
  } finally {
    await close();
  }
}

/** Items as upserts, and a turn's head once it has ended. */
function printJson(line: Line): void {
  if (line.kind !== 'turn') return console.log(JSON.stringify(line.item));
  const { items: _, ...head } = line.turn;
  console.log(JSON.stringify({ type: 'turn', ...head }));
}

function printText(line: Line): void {
  const text = formatLine(line);
  if (text !== '') console.log(text);
}
