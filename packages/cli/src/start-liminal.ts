import { fileURLToPath } from 'node:url';
import { reapOrphans, startGuard } from '@liminal/agents';
import { createRuntime, type Logger } from '@liminal/runtime';
import { createCredentials, createServer, listen, Metrics } from '@liminal/server';
import { errors } from './errors.ts';
import { createAgents } from './agents.ts';
import type { Config } from './config/load.ts';
import { agentSessionsFile } from './data/agent-sessions-file.ts';
import { shareSignedOut } from './data/shared-signed-out.ts';
import { openSignedOut } from './data/signed-out.ts';
import { dataFolderToken } from './data/token.ts';
import { usingDataDir } from './data/using-data-dir.ts';
import { link } from './link.ts';
import { openLog } from './open-log.ts';
import { ownSecrets } from './own-secrets.ts';
import { outliveRejections } from './outlive-rejections.ts';
import { findPort } from './port.ts';
import { openStorage } from './storage.ts';
import { startTelemetry } from './telemetry/start-telemetry.ts';
import { version } from './version.ts';

export interface Liminal {
  logger: Logger;
  /** The server's URL, without a trailing slash. */
  url: string;
  token: string;
  /** Makes a link that signs in one browser and works once. */
  newLink: () => string;
  /** Starts no new turns. Resolves when no turn runs or `hurry` aborts; see `Runtime.finish`. */
  finish: (hurry: AbortSignal) => Promise<void>;
  /** Stops every agent, closes every connection, and releases the data folder. */
  close: () => Promise<void>;
}

/** The folder of the built web app. */
export const webDir = fileURLToPath(new URL('../../web/dist', import.meta.url));

/** Functions that close the opened parts. They are listed in the order in which the parts were opened. */
type Closers = (() => Promise<unknown>)[];

/**
 * Opens the data folder and starts Liminal on it. Throws a LiminalError that says what to do, such as `INVALID_CONFIG`,
 * `DATA_DIR_IN_USE`, `PORT_IN_USE`, `INSECURE_HOST`.
 */
export async function startLiminal(config: Config): Promise<Liminal> {
  const closers: Closers = [];
  try {
    return await startParts(config, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function startParts(config: Config, closers: Closers) {
  const { dataDir, host } = config;
  if (config.tools.workers === true && config.shared === undefined) {
    throw errors.INVALID_CONFIG.loneServer();
  }
  const secrets = ownSecrets(config, process.env);
  const { logger, close: closeLog } = openLog(config.logLevel, secrets);
  closers.push(async () => closeLog());
  const stopOutliving = outliveRejections(logger);
  closers.push(async () => stopOutliving());
  const telemetry = await startTelemetry(config.telemetry, logger, 'server');
  // Close telemetry last, since all other parts send their last spans while they close.
  if (telemetry) closers.push(telemetry.close);
  const storage = await openStorage(config);
  closers.push(() => storage.close());
  for (const sentence of storage.damageReports ?? []) {
    logger.warn({}, `${sentence} It is left unchanged; everything else was loaded.`);
  }
  const token = config.token ?? (await usingDataDir(dataDir, () => dataFolderToken(dataDir)));
  secrets.add(token);
  const guard = await startGuard({ watches: storage.coordination !== undefined });
  closers.push(() => guard.dismiss());
  await endOrphans(dataDir, logger);

  const tracing = telemetry && { tracing: telemetry.tracing };
  const { roots, settings } = config;
  const metrics = new Metrics();
  const drivers = createAgents(config, storage.coordination?.tasks);
  // Use `usingDataDir`, because the runtime reads data that an earlier server wrote, and this data may be damaged.
  const runtime = await usingDataDir(dataDir, async () =>
    createRuntime({
      storage,
      drivers,
      roots,
      hiddenFolders: [dataDir],
      logger,
      settings,
      meter: metrics,
      secrets,
      sessionListStorage: agentSessionsFile(dataDir),
      endAgentsAt: guard.endAt,
      ...tracing,
    }),
  );
  // Close agents first, so that clients still see the end of the agents' turns.
  const closeRuntime = () => runtime.close();
  const signedOut = await usingDataDir(dataDir, () => openSignedOut(dataDir));
  if (storage.coordination) {
    const onProblem = (error: unknown) =>
      logger.warn({ err: error }, 'sign-outs could not be shared with the other servers');
    closers.push(await shareSignedOut(signedOut, storage.coordination.board, onProblem));
  }
  const credentials = createCredentials(token, signedOut);
  const server = await createServer({
    runtime,
    version,
    webDir,
    credentials,
    metrics,
    logger,
    host,
    insecureHost: config.insecureHost,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    ...tracing,
  });
  closers.push(() => server.close(), closeRuntime);
  const address = await listen(server, { host, port: await findPort(config) });
  const url = `http://${urlHost(host)}:${new URL(address).port}`;
  return {
    logger,
    url,
    token,
    newLink: () => link(url, credentials.newCode()),
    finish: (hurry: AbortSignal) => runtime.finish(hurry),
    close: () => closeAll(closers),
  };
}

/** Ends the processes that an earlier server left behind. */
async function endOrphans(dataDir: string, logger: Logger): Promise<void> {
  const { ended } = await usingDataDir(dataDir, async () => reapOrphans(dataDir));
  if (ended > 0) logger.warn({ ended }, 'ended the processes that an earlier server left behind');
}

/** Returns the host as part of a URL; `localhost` if the server listens at every address. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
