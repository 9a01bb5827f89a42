import { once } from 'node:events';
import { startProjectorWorker } from '@liminal/runtime';
import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { openLog } from '../open-log.ts';
import { ownSecrets } from '../own-secrets.ts';
import { openShared, refuseEventArchive } from '../storage.ts';
import { startTelemetry } from '../telemetry/start-telemetry.ts';

/** Copies finished runs to history, as a process besides the servers, until a signal ends the command. */
export async function projector(config: Config): Promise<number> {
  const { shared, logLevel, settings } = config;
  if (!shared) {
    throw errors.INVALID_CONFIG.loneProjector();
  }
  refuseEventArchive({ shared, settings });
  const stopped = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
  const logger = openLog(logLevel, ownSecrets(config, process.env)).logger;
  const telemetry = await startTelemetry(config.telemetry, logger, 'projector');
  const storage = await openShared(shared);
  const worker = startProjectorWorker({
    storage,
    logger,
    settings: { ...settings, projects: true },
    ...(telemetry && { tracing: telemetry.tracing }),
  });
  console.log('The projector is running.');
  await stopped;
  await worker.close();
  await storage.close();
  await telemetry?.close();
  return 0;
}
