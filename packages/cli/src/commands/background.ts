import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';

export interface BackgroundFlags {
  /** The id of the call. Without an id, all calls that can run in the background are moved. */
  call?: string;
}

/** Moves running calls of a session's turn to the background. Throws ApiError if the server refuses the request. */
export async function background(
  sessionId: string,
  { call: callId }: BackgroundFlags,
  config: Config,
): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  try {
    await client.requests.background(sessionId, callId === undefined ? {} : { callId });
    return 0;
  } finally {
    await close();
  }
}
