import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { access, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thrownMessage } from '@liminal/protocol';
import { checkedParts, unpacked } from '@liminal/runtime';
import { createCredentials, createReplayServer, type ReplayedFile } from '@liminal/server';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { link } from '../link.ts';
import { findPort } from '../port.ts';
import { webDir } from '../start-liminal.ts';
import { hasDesktop, openInBrowser } from '../terminal/browser.ts';
import { version } from '../version.ts';

const host = '127.0.0.1';
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Replays a session's file in the browser until a signal ends the command. The command writes nothing to the data
 * folder, and puts the file's blobs into a temporary folder. For an invalid file, throws LiminalError
 * `EXPORT_UNREADABLE` before the page opens.
 */
export async function replay(path: string, config: Config): Promise<number> {
  const stopped = Promise.race(signals.map((signal) => once(process, signal)));
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw errors.INVALID_CONFIG.unreadable(path, thrownMessage(error));
  });
  const folder = await mkdtemp(join(tmpdir(), 'liminal-replay-'));
  try {
    const file = await readReplayedFile(path, folder);
    const credentials = createCredentials(randomBytes(32).toString('base64url'));
    const server = await createReplayServer({ file, version, webDir, credentials, host });
    const port = await findPort({ ...config, host });
    const url = new URL(await server.listen({ host, port })).origin;
    const page = `/replay/${encodeURIComponent(file.sessionId)}`;
    const newLink = () => link(url, credentials.newCode(), page);
    console.log(`The replay is at ${newLink()}`);
    if (config.open && hasDesktop(process.env)) await openInBrowser(newLink());
    await stopped;
    await server.close();
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks a whole file, and writes its blobs into the folder. */
async function readReplayedFile(path: string, folder: string): Promise<ReplayedFile> {
  const blobs: Map<string, { mimeType: string; read: () => Promise<Uint8Array> }> = new Map();
  let sessionId: string | undefined;
  let runs = 0;
  for await (const part of checkedParts(createReadStream(path))) {
    if (part.type === 'session') ({ sessionId } = part.session);
    if (part.type === 'run') runs += 1;
    if (part.type !== 'blob') continue;
    const blobPath = join(folder, part.hash);
    await writeFile(blobPath, part.bytes, { mode: 0o600 });
    blobs.set(part.hash, { mimeType: part.mimeType, read: async () => readFile(blobPath) });
  }
  if (sessionId === undefined || runs === 0) {
    throw errors.EXPORT_UNREADABLE.noTurn();
  }
  return { sessionId, blobs, read: () => unpacked(createReadStream(path)) };
}
