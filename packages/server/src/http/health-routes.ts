import { serverOperations } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { errors } from '../errors.ts';
import { routeOf } from './routes.ts';
import type { App } from './schema.ts';

interface HealthRoutesOptions {
  version: string;
  runtime: Pick<Runtime, 'troubles'>;
}

/**
 * Adds the routes that need no credentials: whether the server runs, and whether it is ready. These routes reveal no
 * other information.
 */
export async function healthRoutes(app: App, { version, runtime }: HealthRoutesOptions) {
  app.route({
    ...routeOf(serverOperations.health),
    handler: () => ({ ok: true as const, version }),
  });

  let loggedProblems = '';
  app.route({
    ...routeOf(serverOperations.ready),
    handler: async () => {
      const problems = (await runtime.troubles()).join(' ');
      if (problems !== loggedProblems)
        app.log.warn(problems === '' ? 'the server is ready again' : problems);
      loggedProblems = problems;
      if (problems !== '') throw errors.NOT_READY.because(problems);
      return { ok: true as const };
    },
  });
}
