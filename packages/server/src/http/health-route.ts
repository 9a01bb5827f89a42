import { z } from 'zod';
import type { App } from './schema.ts';

const Health = z.object({ ok: z.literal(true), version: z.string() });

/** The one route without authorisation: it tells nothing but that the server is there. */
export async function healthRoute(app: App, { version }: { version: string }) {
  app.get(
    '/healthz',
    { schema: { summary: 'Says that the server is there.', response: { 200: Health } } },
    () => ({ ok: true as const, version }),
  );
}
