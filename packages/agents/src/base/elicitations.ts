/** Questions that an MCP server or an agent asks people: a form to fill in, or a link to open. */
import type { ApprovalOption, ApprovalOutcome, FormContent } from '@liminal/protocol';
import { Form } from '@liminal/protocol';
import { z } from 'zod';
import type { ApprovalQuestion } from './pending-approvals.ts';

export type Ask = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalOutcome>;

const ElicitationRequest = z.discriminatedUnion('mode', [
  z.looseObject({ mode: z.literal('form'), message: z.string(), requestedSchema: Form }),
  z.looseObject({
    mode: z.literal('url'),
    message: z.string(),
    url: z.string(),
    elicitationId: z.string().optional().catch(undefined),
  }),
]);

export type ElicitationAnswer =
  | { action: 'accept'; content?: FormContent }
  | { action: 'decline' | 'cancel' };

const formOptions: ApprovalOption[] = [
  { optionId: 'accept', name: 'Send', kind: 'allow_once' },
  { optionId: 'decline', name: 'Decline', kind: 'reject_once' },
];
const linkOptions: ApprovalOption[] = [
  { optionId: 'accept', name: 'I have opened the link', kind: 'allow_once' },
  { optionId: 'decline', name: 'Decline', kind: 'reject_once' },
];

/** Details of a request besides its text: the waiting call, the asker, and a description. */
export type ElicitationAbout = Pick<ApprovalQuestion, 'callId' | 'askedBy' | 'description'>;

/** Returns the name of an MCP server as the asker. */
export const mcpServerAsks = (name: string, source?: string): string =>
  `MCP server “${name}”${source === undefined ? '' : ` (${source})`}`;

/** The open elicitations of one session. */
export class Elicitations {
  readonly #ask: Ask;
  readonly #links = new Map<unknown, AbortController>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Asks people. Returns undefined if the request is neither a form nor a link. */
  async elicit(
    request: unknown,
    signal: AbortSignal,
    about: ElicitationAbout = {},
  ): Promise<ElicitationAnswer | undefined> {
    const asked = ElicitationRequest.safeParse(request).data;
    if (asked === undefined) return undefined;
    if (asked.mode === 'form') {
      const { message: title, requestedSchema: form } = asked;
      return toElicitationAnswer(
        await this.#ask({ title, options: formOptions, form, ...about }, signal),
      );
    }
    const done = new AbortController();
    this.#links.set(asked.elicitationId, done);
    try {
      const title = `${asked.message}\n${asked.url}`;
      const either = AbortSignal.any([signal, done.signal]);
      const outcome = await this.#ask({ title, options: linkOptions, ...about }, either);
      return done.signal.aborted ? { action: 'accept' } : toElicitationAnswer(outcome);
    } finally {
      this.#links.delete(asked.elicitationId);
    }
  }

  /** Closes the question about a link, with the answer “accepted”: the user has finished on the linked page. */
  completeLink(elicitationId: unknown): void {
    if (elicitationId !== undefined) this.#links.get(elicitationId)?.abort();
  }
}

function toElicitationAnswer(outcome: ApprovalOutcome): ElicitationAnswer {
  if (outcome.outcome === 'cancelled') return { action: 'cancel' };
  if (outcome.optionId !== 'accept') return { action: 'decline' };
  const { content } = outcome;
  return content === undefined ? { action: 'accept' } : { action: 'accept', content };
}
