import type { Requests } from '@liminal/client';
import { findSession } from '@liminal/client';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { canAsk, confirm } from '../terminal/ask.ts';

/** Archives, unarchives, pins or unpins a session. */
export async function markSession(
  command: keyof Pick<Requests, 'archive' | 'unarchive' | 'pin' | 'unpin'>,
  sessionId: string,
  config: Config,
): Promise<number> {
  const { client, close } = await connect(config);
  try {
    await client.requests[command](sessionId);
    return 0;
  } finally {
    await close();
  }
}

/** Deletes a session. Asks for confirmation first unless `yes`; returns 1 if the person answers no. */
export async function deleteSession(
  sessionId: string,
  { yes = false }: { yes?: boolean },
  config: Config,
): Promise<number> {
  if (!yes && !canAsk()) {
    throw errors.INVALID_CONFIG.noTerminal('--yes');
  }
  const { client, close } = await connect(config);
  try {
    const session = findSession(await client.requests.listProjects(), sessionId);
    const isSure = yes || (await confirm(question(session?.title ?? sessionId)));
    if (isSure) await client.requests.deleteSession(sessionId);
    return isSure ? 0 : 1;
  } finally {
    await close();
  }
}

const question = (title: string) =>
  `Delete “${title}” permanently? The agent’s own copy remains, but is no longer listed.`;
