import type { ColouredLines } from './coloured-lines.ts';
import { highlight } from './highlighter.ts';

/** A piece of code to colour. */
export interface ColourTask {
  id: number;
  code: string;
  /** The language, by any of its names. */
  language: string;
}

/** The result; without `lines` if the code could not be coloured. */
export interface ColourResult {
  id: number;
  lines?: ColouredLines | undefined;
}

addEventListener('message', ({ data }: MessageEvent<ColourTask>) => {
  void colour(data).then((result) => postMessage(result));
});

async function colour({ id, code, language }: ColourTask): Promise<ColourResult> {
  try {
    return { id, lines: await highlight(code, language) };
  } catch {
    return { id };
  }
}
