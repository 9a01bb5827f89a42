import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type ReadTextFileRequest,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import { LiminalError } from '@liminal/protocol';
import type { AttachedClient } from '@liminal/runtime';
import { clientPath, type ProjectPlace } from './client-paths.ts';

/** A client, and a session that it has opened. */
export interface AttachedPlace extends ProjectPlace {
  client: AgentContext;
  capabilities: ClientCapabilities;
  sessionId: string;
}

/** Request options: stop waiting for the response when the signal aborts. */
export const until = (signal: AbortSignal) => ({
  cancellationSignal: signal,
  stopWaitingOnCancel: true,
});

/** Reads and writes files through the client, as far as its capabilities allow. */
export function clientFiles(place: AttachedPlace): Pick<AttachedClient, 'readText' | 'writeText'> {
  const {
    client,
    capabilities: { fs },
    sessionId,
  } = place;
  return {
    ...(fs?.readTextFile === true && {
      readText: async (path, { line, limit }, signal) => {
        const asked: ReadTextFileRequest = {
          sessionId,
          path: clientPath(place, path),
          ...(line !== undefined && { line }),
          ...(limit !== undefined && { limit }),
        };
        const { content } = await client.request(
          methods.client.fs.readTextFile,
          asked,
          until(signal),
        );
        return content;
      },
    }),
    ...(fs?.writeTextFile === true && {
      writeText: async (path, content, signal) => {
        const asked = { sessionId, path: clientPath(place, path), content };
        try {
          await client.request(methods.client.fs.writeTextFile, asked, until(signal));
        } catch (error) {
          // The client itself refused, unlike after a closed connection or an aborted request.
          if (!(error instanceof RequestError) || signal.aborted) throw error;
          throw new LiminalError('CLIENT_REFUSED', error.message, { cause: error });
        }
      },
    }),
  };
}
