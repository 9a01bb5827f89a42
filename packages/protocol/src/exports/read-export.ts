import { blobMax } from '../blobs.ts';
import { maxDepth, withinDepth } from '../depth.ts';
import { LiminalError } from '../errors.ts';
import { type EventDraft, stampEvent, type StreamEvent } from '../events.ts';
import type { OutputItem } from '../items.ts';
import { LineSplitter } from '../line-splitter.ts';
import type { Response } from '../response.ts';
import { writeTraceparent } from '../trace-context.ts';
import {
  exportFormatVersion,
  ExportEnd,
  type ExportedBlob,
  type ExportedRun,
  type ExportedSession,
  ExportHeader,
  ExportLine,
  exportVersion,
} from './export-file.ts';
/**
 * The longest line, in characters: the JSON of the largest item. In JSON, one character of the item may need six
 * characters.
 */
const lineMax = 112 * 1024 * 1024;
/** The longest header, in characters. A file of another kind is refused after a few pieces of text. */
const headerMax = 1024 * 1024;
/** The largest number of lines of one run. */
const runLinesMax = 5_000_000;

/** A checked part of a file. */
export type ExportPart =
  | { type: 'header'; header: ExportHeader }
  | { type: 'session'; session: ExportedSession }
  | { type: 'blob'; blob: ExportedBlob }
  | { type: 'run'; run: Response; events?: StreamEvent[] }
  | { type: 'end'; end: ExportEnd };

/**
 * Returns the parts of an exported file, in the file's order; only one run at a time is in memory. Throws LiminalError
 * `EXPORT_UNREADABLE` if the file is not an export, has a newer version, is damaged or incomplete. The file is complete
 * only if the part `end` was returned. The caller must check that a blob's bytes match its hash.
 *
 * @param text - The file's text, in pieces of any size.
 */
export async function* readExport(text: AsyncIterable<string>): AsyncGenerator<ExportPart, void> {
  const lines = new ExportLines(text);
  yield { type: 'header', header: await readHeader(lines) };
  const session = await lines.next();
  if (session.type !== 'session') throw lines.lineError('must be the session');
  yield { type: 'session', session };
  const counted = { runs: 0, blobs: 0 };
  for (;;) {
    const line = await lines.next();
    if (line.type === 'blob') {
      if (line.data.length > (blobMax / 3) * 4 + 4)
        throw lines.lineError('has a file that is too large');
      counted.blobs += 1;
      yield { type: 'blob', blob: line };
    } else if (line.type === 'run') {
      counted.runs += 1;
      yield await readRunLines(lines, line);
    } else if (line.type === 'end') {
      if (line.runs !== counted.runs || line.blobs !== counted.blobs) {
        throw lines.lineError('counts other runs or files than the file has');
      }
      await lines.expectEnd();
      yield { type: 'end', end: line };
      return;
    } else throw lines.lineError('is out of order');
  }
}

async function readHeader(lines: ExportLines): Promise<ExportHeader> {
  const first = await lines.raw();
  const version = exportVersion(first);
  if (version === undefined) {
    throw unreadable(
      'This is not a file of liminal export: its first line is not an export header.',
    );
  }
  if (version > exportFormatVersion) {
    throw unreadable(
      `The file was written by a newer Liminal (format ${version}, this one knows ${exportFormatVersion}). Update Liminal.`,
    );
  }
  const header = ExportHeader.safeParse(first);
  if (!header.success) throw lines.lineError('has a damaged header');
  return header.data;
}

/** Returns a run with the items and events after it. */
async function readRunLines(
  lines: ExportLines,
  { run, ...counts }: ExportedRun,
): Promise<ExportPart> {
  if (counts.items + (counts.events ?? 0) > runLinesMax)
    throw lines.lineError('has a run that is too long');
  const outputItems: OutputItem[] = [];
  while (outputItems.length < counts.items) {
    const line = await lines.next();
    if (line.type !== 'item') throw lines.lineError('must be an item of the run');
    outputItems.push(line.item);
  }
  const response = { ...run, outputItems };
  if (!hasTimes(response)) throw lines.lineError('ends a run with invalid times');
  if (counts.events === undefined) return { type: 'run', run: response };
  const { id: runId, sessionId, turnId, lastSeq, traceContext = noTrace } = run;
  if (counts.events !== lastSeq + 1) throw lines.lineError('has a wrong number of events');
  const events: StreamEvent[] = [];
  while (events.length < counts.events) {
    const line = await lines.next();
    if (line.type !== 'event') throw lines.lineError('must be an event of the run');
    const draft: EventDraft = { turnId, timestamp: line.timestamp, payload: line.payload };
    events.push(stampEvent(draft, { sessionId, runId, traceContext }, events.length));
  }
  return { type: 'run', run: response, events };
}

function hasTimes({ createdAt, updatedAt, outputItems }: Response): boolean {
  const timestamps = outputItems.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]);
  const times = timestamps.filter((time) => time !== undefined).map((time) => Date.parse(time));
  return [createdAt, updatedAt, ...times].every((time) => Math.abs(time) <= 8.64e15);
}

/** The all-zero trace of events whose run has no trace; readers ignore it. */
const noTrace = {
  traceparent: writeTraceparent({
    traceId: '0'.repeat(32),
    spanId: '0'.repeat(16),
    isSampled: false,
  }),
};

class ExportLines {
  readonly #lines: AsyncGenerator<string>;
  #number = 0;

  constructor(text: AsyncIterable<string>) {
    const max = (number: number): number => (number === 1 ? headerMax : lineMax);
    this.#lines = splitLines(text, max, (number) =>
      number === 1
        ? unreadable('This is not a file of liminal export: its first line is too long.')
        : unreadable(`The file cannot be read: line ${number} is too long.`),
    );
  }

  /** Returns the next line, parsed as JSON. */
  async raw(): Promise<unknown> {
    const step = await this.#lines.next();
    if (step.done === true) {
      throw unreadable(
        this.#number === 0
          ? 'The file is empty.'
          : 'The file is cut off: its end is missing. Export the session again, or copy the file again.',
      );
    }
    this.#number += 1;
    try {
      return JSON.parse(step.value) as unknown;
    } catch (cause) {
      if (this.#number === 1) {
        throw unreadable(
          'This is not a file of liminal export: its first line is not JSON.',
          cause,
        );
      }
      throw this.lineError('is not JSON, or the file is cut off there', cause);
    }
  }

  async next(): Promise<ExportLine> {
    const raw = await this.raw();
    if (withinDepth(raw) !== raw) throw this.lineError(`is nested deeper than ${maxDepth} levels`);
    const line = ExportLine.safeParse(raw);
    if (line.success) return line.data;
    const [issue] = line.error.issues;
    const where = issue?.path.join('.') || 'type';
    throw this.lineError(`has a wrong shape at ${where}: ${issue?.message ?? ''}`, line.error);
  }

  async expectEnd(): Promise<void> {
    const step = await this.#lines.next();
    if (step.done !== true) throw unreadable('The file has lines after its end line.');
  }

  lineError(what: string, cause?: unknown): LiminalError {
    return unreadable(`The file cannot be read: line ${this.#number} ${what}.`, cause);
  }
}

function unreadable(message: string, cause?: unknown): LiminalError {
  return new LiminalError('EXPORT_UNREADABLE', message, { cause });
}

/**
 * Yields the lines of a text that arrives in pieces, without line ends. Throws `tooLong(number)` as soon as line
 * `number` is longer than `max(number)` characters. Lines are numbered from 1.
 */
async function* splitLines(
  text: AsyncIterable<string>,
  max: (line: number) => number,
  tooLong: (line: number) => Error,
): AsyncGenerator<string, void> {
  const lines = new LineSplitter();
  let number = 1;
  const checked = (line: string): string => {
    if (line.length > max(number)) throw tooLong(number);
    return line;
  };
  for await (const piece of text) {
    for (const line of lines.push(piece)) {
      yield checked(line);
      number += 1;
    }
    checked(lines.rest);
  }
  if (lines.rest !== '') yield lines.rest;
}
