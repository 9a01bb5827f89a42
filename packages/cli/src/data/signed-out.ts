/** Which browsers were signed out, across restarts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SignedOut, signedInAt } from '@liminal/server';
import { z } from 'zod';

const File = z.object({
  /** Sign-ins before this time are invalid (ms since the epoch). */
  before: z.number(),
  devices: z.array(z.string()),
});

/** A browser keeps its cookie no longer than this (ms), so older sign-outs need not be remembered. */
const longest = 401 * 24 * 60 * 60_000;

/** Throws if the data folder cannot be read. An unreadable file signs out every sign-in before now. */
export function keptSignedOut(dataDir: string): SignedOut {
  const path = join(dataDir, 'signed-out.json');
  const state = read(path);
  const save = (): void => {
    state.devices = state.devices.filter((id) => signedInAt(id) > Date.now() - longest);
    writeFileSync(path, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  };
  return {
    has: (deviceId) => signedInAt(deviceId) < state.before || state.devices.includes(deviceId),
    add: (deviceId) => {
      state.devices.push(deviceId);
      save();
    },
    addAll: () => {
      state.before = Date.now() + 1;
      state.devices = [];
      save();
    },
  };
}

function read(path: string): z.infer<typeof File> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { before: 0, devices: [] };
    }
    throw error;
  }
  try {
    return File.parse(JSON.parse(text));
  } catch {
    return { before: Date.now(), devices: [] };
  }
}
