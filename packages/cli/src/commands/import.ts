import { openAsBlob } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { thrownMessage } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';

/** Imports a session's file into the server, and prints the session's id there. Throws LiminalError. */
export async function importSession(path: string, config: Config): Promise<number> {
  const file = await blobOf(path);
  const { client, close } = await connect(config);
  try {
    const { sessionId, wasThere } = await client.requests.importSession(file);
    console.log(sessionId);
    if (wasThere) console.error('The session was imported before: nothing was added.');
    return 0;
  } finally {
    await close();
  }
}

async function blobOf(path: string): Promise<Blob> {
  try {
    // Call `access` first: the error of `access` is clearer than the error of `openAsBlob`.
    await access(path, constants.R_OK);
    return await openAsBlob(path);
  } catch (error) {
    throw errors.INVALID_CONFIG.unreadable(path, thrownMessage(error));
  }
}
