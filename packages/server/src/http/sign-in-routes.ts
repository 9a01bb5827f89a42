import { serverOperations } from '@liminal/protocol';
import type { Credentials } from '../auth/credentials.ts';
import { clearDevice, deviceIn } from '../auth/guard.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

/** Adds the routes that sign browsers in and out. */
export async function signInRoutes(app: App, { credentials }: { credentials: Credentials }) {
  app.route({
    ...routeOf(serverOperations.createSignInLink),
    handler: async () => ({ code: credentials.newCode() }),
  });

  app.route({
    ...routeOf(serverOperations.signOut),
    handler: async (request, reply) => {
      const device = deviceIn(request, credentials);
      // Stop tracking this request's connection, because the request must be answered although its browser is signed
      // out.
      request.deviceConnection?.leave();
      clearDevice(request, reply);
      // `addAll` and `add` sign out the browsers even if they throw.
      if (request.body?.everywhere === true) credentials.signedOut.addAll();
      else if (device !== undefined) credentials.signedOut.add(device);
      return {};
    },
  });
}
