import { ApprovalAnswerBody, QueuedBody, SendBody, SendResult } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { ApprovalPath, SessionPath, TurnPath } from './path-params.ts';
import { type App, Done } from './schema.ts';

/** What a person says to an agent: messages, those that wait, stop, and answers (seed 000, AC-6.2). */
export async function messageRoutes(app: App, { runtime }: { runtime: Runtime }) {
  app.post(
    '/api/session/:id/send',
    {
      schema: {
        summary:
          'Sends a message; it is bound to its turn, or queued behind another. Asked again for the same turn, it is sent once.',
        params: SessionPath,
        body: SendBody,
        response: { 202: SendResult },
      },
    },
    async ({ params, body }, reply) =>
      reply.code(202).send(await runtime.send(params.id, body.message, body.turnId)),
  );

  app.put(
    '/api/session/:id/queue/:turnId',
    {
      schema: {
        summary: 'Changes a message that waits in the queue.',
        params: TurnPath,
        body: QueuedBody,
        response: { 200: Done },
      },
    },
    async ({ params, body }) => {
      await runtime.editQueued(params.id, params.turnId, body.message);
      return {};
    },
  );

  app.delete(
    '/api/session/:id/queue/:turnId',
    {
      schema: {
        summary: 'Takes a message out of the queue.',
        params: TurnPath,
        response: { 200: Done },
      },
    },
    async ({ params }) => {
      await runtime.removeQueued(params.id, params.turnId);
      return {};
    },
  );

  app.post(
    '/api/session/:id/cancel',
    {
      schema: {
        summary: 'Stops the running turn; with nothing to stop it does nothing.',
        params: SessionPath,
        response: { 200: Done },
      },
    },
    async (request) => {
      await runtime.cancel(request.params.id);
      return {};
    },
  );

  app.post(
    '/api/session/:id/approval/:approvalId',
    {
      schema: {
        summary: 'Answers a permission request; the first answer counts.',
        params: ApprovalPath,
        body: ApprovalAnswerBody,
        response: { 200: Done },
      },
    },
    async ({ params, body }) => {
      await runtime.answerApproval(params.id, params.approvalId, body);
      return {};
    },
  );
}
