import { serverOperations } from '@liminal/protocol';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

/** The one route without authorisation: it says only that the server is there. */
export async function healthRoute(app: App, { version }: { version: string }) {
  app.route({
    ...routeOf(serverOperations.health),
    handler: () => ({ ok: true as const, version }),
  });
}
