import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { LiminalClient } from '@liminal/client';
import { thrownMessage } from '@liminal/protocol';
import { checkedParts } from '@liminal/runtime';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

export interface ExportFlags {
  out?: string;
}

/** The contents of the written file. The numbers were counted while the file was read again. */
interface Contents {
  runs: number;
  withEvents: number;
  blobs: number;
  secrets: Record<string, number>;
}

/**
 * Writes a session to a file, compressed if its name ends in `.gz`, and prints the file's name. Writes a temporary file
 * first, reads this file again and checks it completely, and only then renames it. Throws LiminalError.
 */
export async function exportSession(
  sessionId: string,
  { out }: ExportFlags,
  config: Config,
): Promise<number> {
  const name = out ?? `liminal-${sessionId.replaceAll(/[^\w-]/g, '').slice(0, 8)}.jsonl`;
  const path = resolve(name);
  const part = `${path}.part`;
  const { client, close } = await connect(config);
  try {
    const file = await exportedFile(client, sessionId);
    await writeExport(file, part, name);
    const contents = await contentsOf(part);
    await rename(part, path);
    const { size } = await stat(path);
    console.log(oneRow(name));
    console.error(sentences(contents, size).map(oneRow).join('\n'));
    return 0;
  } finally {
    await rm(part, { force: true });
    await close();
  }
}

/**
 * Loads the session first: Liminal may not have read the session from the agent's own store yet, or only a part of it.
 */
async function exportedFile({ requests }: LiminalClient, sessionId: string) {
  await requests.loadSession(sessionId).catch(() => undefined);
  return requests.exportSession(sessionId);
}

async function writeExport(
  file: ReadableStream<Uint8Array>,
  part: string,
  name: string,
): Promise<void> {
  const isPacked = name.endsWith('.gz');
  try {
    // Other users of this machine must not read the file.
    const there = createWriteStream(part, { mode: 0o600, flush: true });
    const bytes = Readable.from(file);
    await (isPacked ? pipeline(bytes, createGzip(), there) : pipeline(bytes, there));
  } catch (cause) {
    throw errors.NOT_EXPORTED.unwritten(name, thrownMessage(cause), { cause });
  }
}

async function contentsOf(part: string): Promise<Contents> {
  let [runs, withEvents, blobs] = [0, 0, 0];
  for await (const one of checkedParts(createReadStream(part))) {
    if (one.type === 'blob') blobs += 1;
    if (one.type === 'run') runs += 1;
    if (one.type === 'run' && one.events) withEvents += 1;
    if (one.type === 'end') return { runs, withEvents, blobs, secrets: one.end.secrets };
  }
  throw errors.NOT_EXPORTED.endedEarly();
}

function sentences({ runs, withEvents, blobs, secrets }: Contents, size: number): string[] {
  const found = Object.entries(secrets).map(([rule, times]) => `${rule} ${times}×`);
  const without = runs - withEvents;
  return [
    `${count(runs, 'turn')}, ${count(blobs, 'file')}, ${(size / 1024 / 1024).toFixed(1)} MiB.`,
    found.length === 0
      ? 'No secrets were found. Check the file before you share it: the rules do not find everything.'
      : `Removed secrets: ${found.join(', ')}. Check the file before you share it: the rules do not find everything.`,
    ...(without === 0
      ? []
      : [
          `The events of ${count(without, 'turn')} were not kept: replay rebuilds them from the stored result (set "keepEvents" in the configuration to keep the events of later turns).`,
        ]),
  ];
}

const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;
