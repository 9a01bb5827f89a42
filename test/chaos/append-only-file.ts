import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The words of a command, unchanged. */
export type Command = Buffer[];

/**
 * Reads all commands that a Redis wrote to disk before it answered, from the Redis's folder. The commands of a
 * transaction are returned completely or not at all. The Redis must never rewrite its file
 * (`auto-aof-rewrite-percentage 0`).
 */
export async function commandsOnDisk(folder: string): Promise<Command[]> {
  const files = await Promise.all((await filesIn(folder)).map(async (path) => readFile(path)));
  return files.flatMap((file) => [...committed(commandsIn(file))]);
}

/** Since Redis 7 there are several files in a folder; older versions write one file. */
async function filesIn(folder: string): Promise<string[]> {
  const parts = join(folder, 'appendonlydir');
  const names = await readdir(parts).catch(() => undefined);
  if (!names) return [join(folder, 'appendonly.aof')];
  const written = names.filter((name) => name.endsWith('.incr.aof'));
  return written
    .toSorted((a, b) => a.localeCompare(b, undefined, { numeric: true }))
    .map((name) => join(parts, name));
}

/** Yields the commands up to the last complete command. A command that was written only in part was never answered. */
function* commandsIn(file: Buffer): Generator<Command> {
  for (let at = 0; ;) {
    const count = lengthAt(file, at, '*');
    if (!count) return;
    const command: Command = [];
    for (at = count.next; command.length < count.value;) {
      const length = lengthAt(file, at, '$');
      if (!length || length.next + length.value + 2 > file.length) return;
      command.push(file.subarray(length.next, length.next + length.value));
      at = length.next + length.value + 2;
    }
    yield command;
  }
}

function lengthAt(file: Buffer, at: number, sign: string) {
  const end = file.indexOf('\r\n', at);
  if (end === -1) return undefined;
  const line = file.toString('latin1', at, end);
  if (!line.startsWith(sign)) throw new Error(`The file has "${line}" at ${at}.`);
  return { value: Number(line.slice(1)), next: end + 2 };
}

function* committed(commands: Iterable<Command>): Generator<Command> {
  let transaction: Command[] | undefined;
  for (const command of commands) {
    const name = String(command[0]).toUpperCase();
    if (name === 'MULTI') transaction = [];
    else if (name === 'EXEC') {
      yield* transaction ?? [];
      transaction = undefined;
    } else if (transaction) transaction.push(command);
    else yield command;
  }
}
