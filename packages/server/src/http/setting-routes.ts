import { ConfigBody, TitleBody } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { SessionPath } from './path-params.ts';
import { type App, Done } from './schema.ts';

/** What can be changed about a session beside its conversation. */
export async function settingRoutes(app: App, { runtime }: { runtime: Runtime }) {
  app.post(
    '/api/session/:id/prewarm',
    {
      schema: {
        summary: 'Starts a session’s agent ahead of its next message, where that saves time.',
        params: SessionPath,
        response: { 200: Done },
      },
    },
    async (request) => {
      await runtime.prewarm(request.params.id);
      return {};
    },
  );

  app.post(
    '/api/session/:id/config',
    {
      schema: {
        summary: 'Sets one of the session’s config options.',
        params: SessionPath,
        body: ConfigBody,
        response: { 200: Done },
      },
    },
    async ({ params, body }) => {
      await runtime.setConfig(params.id, body.id, body.value);
      return {};
    },
  );

  app.post(
    '/api/session/:id/title',
    {
      schema: {
        summary: 'Renames a session.',
        params: SessionPath,
        body: TitleBody,
        response: { 200: Done },
      },
    },
    async ({ params, body }) => {
      await runtime.rename(params.id, body.title);
      return {};
    },
  );
}
