import type { ClientApp } from '@agentclientprotocol/sdk';
import { isRecord } from '../translate/fields.ts';
import { ClientError } from './client-error.ts';
import type { SessionClient } from './session-client.ts';
import type { AcpSdk } from '../sdk.ts';

interface Sessions {
  /** Finds the session of a request. Throws ClientError. */
  find: (scope: { sessionId?: unknown; requestId?: unknown }) => SessionClient;
  /** Called when a link has served its purpose; the notification does not name the session. */
  complete: (elicitationId: unknown) => void;
  /** Returns the waiting messages to a session's running turn. */
  takeSteered: (sessionId: unknown) => object;
}

/** Returns an app that answers an agent's requests. */
export function serveClient(sdk: AcpSdk, { find, complete, takeSteered }: Sessions): ClientApp {
  const { methods } = sdk;
  const app = sdk.client({ name: 'liminal' });
  /** Converts errors: the library sends only its own error class to the agent. */
  const guarded = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof ClientError
        ? new sdk.RequestError(error.rpcCode, error.message, error.data)
        : error;
    }
  };
  const { fs, terminal, session, elicitation } = methods.client;
  app.onRequest(fs.readTextFile, ({ params }) => guarded(() => find(params).files.read(params)));
  app.onRequest(fs.writeTextFile, ({ params }) => guarded(() => find(params).files.write(params)));
  app.onRequest(terminal.create, ({ params }) =>
    guarded(() => find(params).terminals.create(params)),
  );
  app.onRequest(terminal.output, ({ params }) =>
    guarded(() => find(params).terminals.output(params)),
  );
  app.onRequest(terminal.waitForExit, ({ params, signal }) =>
    guarded(() => find(params).terminals.waitForExit(params, signal)),
  );
  app.onRequest(terminal.kill, ({ params }) => guarded(() => find(params).terminals.kill(params)));
  app.onRequest(terminal.release, ({ params }) =>
    guarded(() => find(params).terminals.release(params)),
  );
  // Parse here: the library would drop unknown fields.
  app.onRequest(session.requestPermission, asRecord, ({ params, signal }) =>
    guarded(() => find(params).requestPermission(params, signal)),
  );
  app.onRequest(elicitation.create, asRecord, ({ params, signal }) =>
    guarded(() => find(params).elicit(params, signal)),
  );
  app.onRequest(takeSteeredMethod, asRecord, ({ params }) => takeSteered(params['sessionId']));
  app.onNotification(elicitation.complete, asRecord, ({ params }) =>
    complete(params['elicitationId']),
  );
  return app;
}

/** Qwen Code's request for messages to the running turn; not part of the protocol. */
const takeSteeredMethod = 'craft/drainMidTurnQueue';

const asRecord = (params: unknown): Record<string, unknown> => (isRecord(params) ? params : {});
