import type { useClient } from '@liminal/client/react';
import { saveFile } from '../attachments/use-file.ts';

/** Saves a session as a file. Rejects with the server's error. */
export async function saveExport(
  requests: ReturnType<typeof useClient>['requests'],
  sessionId: string,
): Promise<void> {
  const file = await new Response(await requests.exportSession(sessionId)).blob();
  saveFile(file, `liminal-${sessionId}.jsonl`);
}
