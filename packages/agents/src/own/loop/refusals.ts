/**
 * Finds out, from a server's errors, which part of a conversation the server rejects, and leaves that part out of all
 * later requests. Otherwise one damaged picture, or one field of another maker, would make the session unusable. An
 * error with a known message leads to a known concession. After any other error, several concessions are tried; the
 * last one is to send the conversation as plain text.
 */
import { createHash } from 'node:crypto';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import {
  type Complaint,
  type Concession,
  concessionsFor,
  filesOf,
  mayBeOfContent,
} from './complaints.ts';
import { withConcessions, type Loss, losses, type Rule } from './concessions.ts';
import type { ModelRequest } from './model-client.ts';

export interface Refusal {
  complaint: Complaint;
  /** Whether the server gave no usable reason for rejecting the request. */
  isUnknown: boolean;
}

/** How requests to one maker's API are built and sent, and how the API's refusals are recognized. */
export interface RequestFormat<Body extends object, Answer> {
  /** Creates the request body in the server's format. */
  bodyOf: (request: ModelRequest) => Body;
  send: (body: Body) => Promise<Answer>;
  /**
   * Returns undefined if the error is not a refusal by the server, or if the error arrived after the answer had begun.
   */
  refusalIn: (error: unknown) => Refusal | undefined;
  /** Returns whether the client has found a field of the body that the client will leave out of all later requests. */
  noteRefusal?: (body: Body, complaint: Complaint) => boolean;
}

/** The most requests before the whole conversation is sent as plain text. */
const mostRequests = 12;

/** The concessions for the conversations of one server's models. */
export class Refusals {
  readonly #byModel = new Map<string, ModelConcessions>();

  /**
   * Sends the request, and repeats it without the parts that the server rejects. Rejects if the server rejects every
   * form of the request.
   */
  async ask<Body extends object, Answer>(
    request: ModelRequest,
    { bodyOf, send, refusalIn, noteRefusal }: RequestFormat<Body, Answer>,
  ): Promise<Answer> {
    const { conversation, model } = request;
    const concessions = this.#of(model);
    const bodyWith = (more: ConcessionAttempt): Body => {
      const put = withConcessions(conversation, {
        has: (rule) => concessions.rules.has(rule) || more.rules.has(rule),
        loses: (loss, from) => concessions.lost[loss].has(from) || more.lost[loss].has(from),
      });
      const reasoningField = more.reasoningField ?? concessions.reasoningField;
      return bodyOf({ ...request, conversation: put, reasoningField });
    };
    /**
     * `named` has the concessions that known errors have led to; `tried` may have one more, which is a guess about an
     * unknown error.
     */
    let named = new ConcessionAttempt();
    let tried = named;
    let body = bodyWith(tried);
    let first: unknown;
    const sent = new Set<string>();
    for (;;) {
      try {
        const answer = await send(body);
        concessions.keep(tried, conversation);
        return answer;
      } catch (error) {
        const refusal = refusalIn(error);
        if (refusal === undefined) throw error;
        const { complaint, isUnknown } = refusal;
        sent.add(hashOf(body));
        if (noteRefusal?.(body, complaint) === true) {
          body = bodyWith(tried);
          if (!sent.has(hashOf(body))) continue;
        }
        first ??= error;
        const isGuessing = mayBeOfContent(complaint, isUnknown);
        const known = (
          sent.size < mostRequests ? concessionsFor(complaint, conversation, body) : []
        ).map((one) => tried.with(one));
        const guesses = isGuessing ? guessesFor(conversation, concessions) : [];
        const next = [
          ...known,
          ...guesses.slice(sent.size < mostRequests ? 0 : -1).map((one) => named.with(one)),
        ].find((one) => {
          body = bodyWith(one);
          return !sent.has(hashOf(body));
        });
        if (next === undefined) throw isUnknown ? first : error;
        if (known.includes(next)) named = next;
        tried = next;
      }
    }
  }

  #of(model: string): ModelConcessions {
    const concessions = this.#byModel.get(model) ?? new ModelConcessions();
    this.#byModel.set(model, concessions);
    return concessions;
  }
}

type From = OutputItem | ContentBlock;

/**
 * The concessions for one model. Rules apply to all of the model's conversations; losses apply to the items that caused
 * errors.
 */
class ModelConcessions {
  readonly rules = new Set<Rule>();
  readonly lost: Record<Loss, WeakSet<From>> = perLoss(() => new WeakSet<From>());
  /** Files that the server has accepted before. */
  readonly taken = new WeakSet<From>();
  reasoningField: string | undefined;

  /** @param conversation - The conversation that the server has accepted. */
  keep(tried: ConcessionAttempt, conversation: readonly OutputItem[]): void {
    for (const rule of tried.rules) this.rules.add(rule);
    for (const loss of losses) for (const from of tried.lost[loss]) this.lost[loss].add(from);
    for (const file of filesOf(conversation)) {
      if (!this.lost.file.has(file)) this.taken.add(file);
    }
    this.reasoningField = tried.reasoningField ?? this.reasoningField;
  }
}

/** The concessions that are added while one request is repeated. */
class ConcessionAttempt {
  rules: ReadonlySet<Rule> = new Set();
  lost: Record<Loss, ReadonlySet<From>> = perLoss(() => new Set());
  reasoningField: string | undefined;

  with({ rules = [], lost = {}, reasoningField }: Concession): ConcessionAttempt {
    const more = new ConcessionAttempt();
    more.rules = new Set([...this.rules, ...rules]);
    for (const loss of losses) {
      more.lost[loss] = new Set([...this.lost[loss], ...(lost[loss] ?? [])]);
    }
    more.reasoningField = reasoningField ?? this.reasoningField;
    return more;
  }
}

function perLoss<Kept>(make: () => Kept): Record<Loss, Kept> {
  return { file: make(), thought: make(), fields: make(), call: make() };
}

/**
 * Returns the concessions to try after an error with an unknown message; the last one is to send the conversation as
 * plain text.
 */
function guessesFor(
  conversation: readonly OutputItem[],
  { taken }: ModelConcessions,
): Concession[] {
  const file = filesOf(conversation);
  const rules = ['ids', 'turns'] as const;
  const own = { thought: conversation, fields: conversation };
  return [
    { lost: { file: file.filter((block) => !taken.has(block)) } },
    { lost: { file } },
    { rules },
    { lost: own },
    { lost: { call: conversation } },
    { rules, lost: { ...own, file } },
    { rules, lost: { ...own, file, call: conversation } },
  ];
}

const hashOf = (body: object): string =>
  createHash('sha256').update(JSON.stringify(body)).digest('hex');
