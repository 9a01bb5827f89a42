import { FileResult } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { z } from 'zod';
import { SessionPath } from './path-params.ts';
import type { App } from './schema.ts';

const FileQuery = z.object({ path: z.string().min(1).max(4096) });

/** Files of a session's project. Always as JSON: no browser takes the answer for a page, a script or a style. */
export async function fileRoute(app: App, { runtime }: { runtime: Runtime }) {
  app.get(
    '/api/session/:id/file',
    {
      schema: {
        summary: 'Gives a file of the session’s project to look at; starts no agent.',
        params: SessionPath,
        querystring: FileQuery,
        response: { 200: FileResult },
      },
    },
    (request) => runtime.readFile(request.params.id, request.query.path),
  );
}
