import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type ReadTextFileRequest,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import type { AttachedClient } from '@liminal/runtime';
import { errors } from '../errors.ts';
import { clientPath, type ProjectPaths } from './client-paths.ts';

/** A client, and the session that this client has opened. */
export interface ClientSession extends ProjectPaths {
  client: AgentContext;
  capabilities: ClientCapabilities;
  sessionId: string;
}

/** Options for a request. When the signal aborts, the caller no longer waits for the response. */
export const until = (signal: AbortSignal) => ({
  cancellationSignal: signal,
  stopWaitingOnCancel: true,
});

/** Reads and writes files through the client, as far as its capabilities allow. */
export function clientFiles(
  clientSession: ClientSession,
): Pick<AttachedClient, 'readText' | 'writeText'> {
  const {
    client,
    capabilities: { fs },
    sessionId,
  } = clientSession;
  return {
    ...(fs?.readTextFile === true && {
      readText: async (path, { line, limit }, signal) => {
        const request: ReadTextFileRequest = {
          sessionId,
          path: clientPath(clientSession, path),
          ...(line !== undefined && { line }),
          ...(limit !== undefined && { limit }),
        };
        const { content } = await client.request(
          methods.client.fs.readTextFile,
          request,
          until(signal),
        );
        return content;
      },
    }),
    ...(fs?.writeTextFile === true && {
      writeText: async (path, content, signal) => {
        const request = { sessionId, path: clientPath(clientSession, path), content };
        try {
          await client.request(methods.client.fs.writeTextFile, request, until(signal));
        } catch (error) {
          // Here, the error is a refusal by the client itself, not a closed connection or an aborted request.
          if (!(error instanceof RequestError) || signal.aborted) throw error;
          throw errors.CLIENT_REFUSED.because(error.message, { cause: error });
        }
      },
    }),
  };
}
