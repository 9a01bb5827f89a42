import type { Runtime } from '@liminal/runtime';
import type { Connections } from '../connections.ts';
import type { App } from '../http/schema.ts';
import type { Limits } from '../limits.ts';
import { EventStreams } from './event-streams.ts';
import { runStreamRoute } from './run-stream.ts';
import { sessionStreamRoute } from './session-stream.ts';

interface StreamRoutesOptions {
  runtime: Runtime;
  connections: Connections;
  limits: Limits;
}

/** Adds the routes of server-sent events. */
export async function streamRoutes(
  app: App,
  { runtime, connections, limits }: StreamRoutesOptions,
) {
  const streams = new EventStreams(connections, limits);
  app.addHook('preClose', async () => streams.endAll());
  await app.register(sessionStreamRoute, { runtime, connections, streams });
  await app.register(runStreamRoute, { runtime, streams });
}
