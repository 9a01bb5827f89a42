import { serverOperations } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { RequestError } from './errors.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

interface Options {
  version: string;
  runtime: Pick<Runtime, 'troubles'>;
}

/** The routes without authorisation: whether the server runs, and whether it is ready. They reveal nothing else. */
export async function healthRoutes(app: App, { version, runtime }: Options) {
  app.route({
    ...routeOf(serverOperations.health),
    handler: () => ({ ok: true as const, version }),
  });

  let told = '';
  app.route({
    ...routeOf(serverOperations.ready),
    handler: async () => {
      const lacks = (await runtime.troubles()).join(' ');
      if (lacks !== told) app.log.warn(lacks === '' ? 'the server is ready again' : lacks);
      told = lacks;
      if (lacks !== '') throw new RequestError('NOT_READY', lacks);
      return { ok: true as const };
    },
  });
}
