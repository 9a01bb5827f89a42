import { SignInLink } from '@liminal/protocol';
import { z } from 'zod';
import type { Credentials } from '../auth/credentials.ts';
import { clearDevice, deviceIn } from '../auth/guard.ts';
import { type App, Done } from './schema.ts';

const SignOutBody = z.object({ everywhere: z.boolean().optional() }).optional();

/** Lets browsers in, and sends them away. */
export async function signInRoutes(app: App, { credentials }: { credentials: Credentials }) {
  app.post(
    '/api/sign-in-link',
    {
      schema: {
        summary: 'Gives a code for a link that signs one browser in, once: `/?code=…`.',
        response: { 200: SignInLink },
      },
    },
    async () => ({ code: credentials.newCode() }),
  );

  app.post(
    '/api/sign-out',
    {
      schema: {
        summary: 'Signs this browser out; with `everywhere`, every browser that has signed in.',
        body: SignOutBody,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const device = deviceIn(request, credentials);
      if (device !== undefined) credentials.signedOut.add(device);
      if (request.body?.everywhere === true) credentials.signedOut.addAll();
      clearDevice(request, reply);
      return {};
    },
  );
}
