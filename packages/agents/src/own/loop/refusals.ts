/**
 * Finds from a server's complaints which part of a conversation the server rejects, and leaves that part out from then on:
 * one damaged picture, or one field of another maker, must not end a session. A complaint that names a known cause leads to
 * its concession. After any other complaint several concessions are tried, up to a conversation in plain words.
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
  /** Whether all that is known is that the server rejected the request. */
  isUnknown: boolean;
}

/** How requests are built and sent in the format of one maker, and how that maker rejects them. */
export interface RequestFormat<Body extends object, Answer> {
  /** Creates the request body in the server's format. */
  bodyOf: (request: ModelRequest) => Body;
  send: (body: Body) => Promise<Answer>;
  /** Undefined if the error is not a complaint, or came after the answer had begun. */
  refusalIn: (error: unknown) => Refusal | undefined;
  /** Whether the client has found a field of the body that it leaves out from now on. */
  noteRefusal?: (body: Body, complaint: Complaint) => boolean;
}

/** The most requests before the whole conversation is put in plain words. */
const mostRequests = 12;

/** The concessions that one server needs for its models' conversations. */
export class Refusals {
  readonly #byModel = new Map<string, ModelConcessions>();

  /** Sends the request; repeats it without the parts that the server complains of. If nothing helps, rejects. */
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
    /** `named` holds the concessions that complaints have asked for; `tried` may add a guess. */
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

/** The concessions to one model. Rules apply to all its conversations, losses to the items that caused them. */
class ModelConcessions {
  readonly rules = new Set<Rule>();
  readonly lost: Record<Loss, WeakSet<From>> = perLoss(() => new WeakSet<From>());
  /** Files that the server has accepted. */
  readonly taken = new WeakSet<From>();
  reasoningField: string | undefined;

  /** @param conversation - The conversation that was answered. */
  keep(tried: ConcessionAttempt, conversation: readonly OutputItem[]): void {
    for (const rule of tried.rules) this.rules.add(rule);
    for (const loss of losses) for (const from of tried.lost[loss]) this.lost[loss].add(from);
    for (const file of filesOf(conversation)) {
      if (!this.lost.file.has(file)) this.taken.add(file);
    }
    this.reasoningField = tried.reasoningField ?? this.reasoningField;
  }
}

/** Additional concessions within one request. */
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

/** The guesses after a complaint with unknown wording; the last guess puts the conversation in plain words. */
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
