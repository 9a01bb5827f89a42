import { isPlainDelta } from './translate/native.ts';

/** The text at the start of each line that may be a delta. */
const deltaStart = '{"type":"stream_event","event":{"type":"content_block_delta"';
/** For lines up to this many characters, a regular expression is faster than a parser. */
const shortLine = 4_096;
const fields: ReadonlySet<string> = new Set(['text', 'thinking', 'partial_json']);

/**
 * Joins successive deltas of one block, in Claude Code's output lines, to one delta with all their text. The lines of
 * such deltas differ only in their text and an id, so only the first line is parsed, and the other lines are matched by
 * a pattern. Matching a line takes a quarter of the time of parsing it.
 */
export class DeltaJoiner {
  /** The pattern of the deltas of the newest block. */
  #like: Delta | undefined;

  join(lines: readonly string[]): string[] {
    const joined: string[] = [];
    for (let at = 0; at < lines.length;) {
      const line = lines[at] ?? '';
      at += 1;
      const isRun = lines[at]?.startsWith(deltaStart) === true;
      const first = isRun ? this.#textOf(line) : undefined;
      const like = this.#like;
      if (first === undefined || like === undefined) {
        joined.push(line);
        continue;
      }
      const texts = [first];
      for (
        let text = deltaText(lines[at], like);
        text !== undefined;
        text = deltaText(lines[at], like)
      ) {
        texts.push(text);
        at += 1;
      }
      joined.push(texts.length === 1 ? line : like.head + texts.join('') + like.tail);
    }
    return joined;
  }

  #textOf(line: string): string | undefined {
    const text = this.#like && deltaText(line, this.#like);
    if (text !== undefined) return text;
    const read = readDelta(line);
    if (read !== undefined) this.#like = read.delta;
    return read?.text;
  }
}

/**
 * A delta's line, split into the parts before (`head`) and after (`tail`) its text, and a pattern that matches lines
 * that differ only in text and id.
 */
interface Delta {
  head: string;
  tail: string;
  pattern: RegExp;
}

/** Returns the text, still escaped as in JSON. */
function deltaText(line: string | undefined, { pattern }: Delta): string | undefined {
  return line === undefined || line.length > shortLine ? undefined : pattern.exec(line)?.[1];
}

function readDelta(line: string): { delta: Delta; text: string } | undefined {
  const message = line.startsWith(deltaStart) ? parseJson(line) : undefined;
  if (!isPlainDelta(message)) return undefined;
  const { type: _, ...content } = message.event.delta;
  const [[field, value] = ['', ''], ...others] = Object.entries(content);
  if (typeof value !== 'string' || !fields.has(field) || others.length > 0) return undefined;
  const text = JSON.stringify(value).slice(1, -1);
  const start = line.indexOf(`"${field}":"`, deltaStart.length) + field.length + 4;
  // If Claude Code encodes the text in another way than `JSON.stringify`, do not join the line.
  if (!line.startsWith(`${text}"`, start)) return undefined;
  const [head, tail] = [line.slice(0, start), line.slice(start + text.length)];
  const [before, after = ''] = tail.split(/(?<="uuid":")[^"\\]*/, 2);
  const id = before === tail ? '' : '[^"\\\\]*';
  const around = [head, before ?? '', after].map((part) => RegExp.escape(part));
  const pattern = new RegExp(`^${around[0]}((?:[^"\\\\]|\\\\.)*)${around[1]}${id}${around[2]}$`);
  return { delta: { head, tail, pattern }, text };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
