/** The browsers that were signed out, stored across restarts and shared by all servers of a cluster. */
import { join } from 'node:path';
import { thrownMessage } from '@liminal/protocol';
import { isBefore, type SignedOut } from '@liminal/server';
import { z } from 'zod';
import { errors } from '../errors.ts';
import { readSmall } from './read-small.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

const State = z.object({
  /** Sign-ins of an earlier generation are invalid. */
  generation: z.int().nonnegative(),
  /** The browsers that signed in during this generation and were signed out. */
  devices: z.array(z.string()),
});
type State = z.infer<typeof State>;

/**
 * How many sign-outs are stored; one more signs out every browser. Sign-outs do not expire: if they did, a signed-out
 * browser could sign in again on a server with a wrong clock.
 */
const maxDevices = 10_000;

/** The delay before a failed write is retried, in ms. */
const retryMs = 5_000;

/** The sign-outs in the file of the data folder; several servers can share them. */
export interface StoredSignedOut extends SignedOut {
  /** Returns the state as JSON. Equal states have equal texts. */
  readonly text: string;
  /** Adds another server's sign-outs to those of this server. Throws if the text is not a state. */
  merge(text: string): void;
}

/**
 * Opens the data folder's sign-outs. Throws if the folder cannot be read. An invalid file signs out every browser.
 * `add`, `addAll` and `merge` take effect at once; they throw LiminalError `STORE_WRITE_FAILED` if the file cannot be
 * written yet.
 */
export function openSignedOut(dataDir: string): StoredSignedOut {
  const path = join(dataDir, 'signed-out.json');
  const stored = readState(path);
  // If the file is missing or invalid, begin a generation with a number greater than every earlier number: earlier
  // generations were numbered in steps of one.
  const state = stored ?? { generation: Date.now(), devices: [] };
  const listeners: (() => void)[] = [];
  let retry: NodeJS.Timeout | undefined;
  const save = (): void => {
    clearTimeout(retry);
    try {
      writeFileAtomically(path, `${stateText(state)}\n`);
    } catch (cause) {
      retry = setTimeout(() => ignoreErrors(save), retryMs).unref();
      throw errors.STORE_WRITE_FAILED.signOut(path, thrownMessage(cause), { cause });
    }
  };
  // Write the new state at once: without the file, each start would sign out every browser again.
  if (!stored) ignoreErrors(save);
  const changed = (): void => {
    if (state.devices.length > maxDevices) {
      state.generation += 1;
      state.devices = [];
    }
    for (const listener of listeners) listener();
    save();
  };
  return {
    get generation() {
      return state.generation;
    },
    has: (deviceId) => isBefore(state.generation, deviceId) || state.devices.includes(deviceId),
    add: (deviceId) => {
      state.devices.push(deviceId);
      changed();
    },
    addAll: () => {
      state.generation += 1;
      state.devices = [];
      changed();
    },
    watch: (listener) => void listeners.push(listener),
    get text() {
      return stateText(state);
    },
    merge: (text) => {
      const other = State.parse(JSON.parse(text));
      const before = stateText(state);
      if (other.generation > state.generation) {
        Object.assign(state, other);
      } else if (other.generation === state.generation) {
        state.devices = [...new Set([...state.devices, ...other.devices])];
      }
      if (stateText(state) !== before) changed();
    },
  };
}

function stateText({ generation, devices }: State): string {
  return JSON.stringify({ generation, devices: devices.toSorted() });
}

/** Runs `write` and ignores its error, because the write is retried later. */
function ignoreErrors(write: () => void): void {
  try {
    write();
  } catch {}
}

/** Returns undefined if the file is invalid. */
function readState(path: string): State | undefined {
  let text: string;
  try {
    text = readSmall(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { generation: 0, devices: [] };
    }
    throw error;
  }
  try {
    return State.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
