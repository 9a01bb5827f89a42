import { createClient, type LiminalClient } from '@liminal/client';
import type { Config } from './config/load.ts';
import { findServer } from './data/server-file.ts';

export interface ServerConnection {
  client: LiminalClient;
  /** The server's URL, without a trailing slash. */
  url: string;
  token: string;
  /** Whether the server keeps running after this command. False if the command started the server for itself. */
  isShared: boolean;
  close: () => Promise<void>;
}

/**
 * Connects to the server that runs on the data folder. If no server runs, starts a server that ends with the command.
 */
export async function connect(config: Config): Promise<ServerConnection> {
  const running = await findServer(config.dataDir);
  if (running) {
    const { url } = running;
    const token = config.token ?? running.token;
    const client = createClient({ baseUrl: url, token });
    return { client, url, token, isShared: true, close: async () => client.close() };
  }
  // Import these modules only here: a command does not need them if a server already runs.
  const { startLiminal } = await import('./start-liminal.ts');
  const own = await startLiminal({ ...config, host: '127.0.0.1', port: 0, portChosen: true });
  const { url, token } = own;
  const client = createClient({ baseUrl: url, token });
  const close = async () => {
    client.close();
    await own.close();
  };
  return { client, url, token, isShared: false, close };
}

/** Like `connect`, but also loads the session, which Liminal may not have read from the agent's own store yet. */
export async function connectTo(sessionId: string, config: Config): Promise<ServerConnection> {
  const connection = await connect(config);
  try {
    await connection.client.requests.loadSession(sessionId);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
