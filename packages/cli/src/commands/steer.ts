import { readAttachments, uploadAttachments } from '../attach.ts';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';

export interface SteerFlags {
  attach?: string[];
}

/**
 * Sends a message to the running turn, and prints the turn's id. Rejects if the server refuses, for example because no
 * turn runs.
 */
export async function steer(
  sessionId: string,
  message: string,
  { attach = [] }: SteerFlags,
  config: Config,
): Promise<number> {
  const files = await readAttachments(attach);
  const { client, close } = await connectTo(sessionId, config);
  try {
    const blocks = await uploadAttachments(client.requests, files);
    const attachments = blocks.length > 0 ? { blocks } : {};
    const { turnId } = await client.requests.steer(sessionId, message, undefined, attachments);
    console.log(turnId);
    return 0;
  } finally {
    await close();
  }
}
