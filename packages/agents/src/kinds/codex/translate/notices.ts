/** Returns texts for people from those notifications of Codex that are not about items. */
import { z } from 'zod';
import { hookOutcomes, hookWords } from '../../../base/hook-words.ts';

const text = z.string().nullish().catch(undefined);

const Hook = z.looseObject({
  run: z.looseObject({
    eventName: z.string(),
    status: z.string(),
    entries: z.array(z.looseObject({ kind: z.string(), text: z.string() })).catch([]),
  }),
});
const Rerouted = z.looseObject({ fromModel: z.string(), toModel: z.string(), reason: text });
const Review = z.looseObject({
  review: z.looseObject({ status: z.string(), rationale: text }),
  action: z.looseObject({ type: z.string() }).catch({ type: '' }),
});
const Recovery = z.looseObject({ message: z.string() });

const Verification = z.looseObject({ verifications: z.array(z.string()) });

/** Returns the notice for a notification; undefined if it has none. */
export function noticeOf(method: string, params: unknown): string | undefined {
  switch (method) {
    case 'hook/completed':
      return hookNotice(Hook.safeParse(params).data);
    case 'model/rerouted':
      return reroutedNotice(Rerouted.safeParse(params).data);
    case 'item/autoApprovalReview/completed':
      return reviewNotice(Review.safeParse(params).data);
    case 'model/verification':
      return verificationNotice(Verification.safeParse(params).data);
    case 'modelProvider/authRecoveryStarted':
    case 'modelProvider/authRecoveryCompleted':
      return Recovery.safeParse(params).data?.message;
  }
  return undefined;
}

const Progress = z.looseObject({ message: text });
const Buffering = z.looseObject({ model: z.string(), showBufferingUi: z.boolean() });
const HookStatus = z.looseObject({ run: z.looseObject({ statusMessage: text }) });

/**
 * Returns the reason why the turn waits; empty if the turn no longer waits, undefined if the notification does not
 * change the reason.
 */
export function activityOf(method: string, params: unknown): string | undefined {
  switch (method) {
    case 'item/mcpToolCall/progress':
      return Progress.safeParse(params).data?.message ?? undefined;
    case 'item/autoApprovalReview/started':
      return reviewActivity(Review.safeParse(params).data);
    case 'item/autoApprovalReview/completed':
      return '';
    case 'model/safetyBuffering/updated':
      return bufferingActivity(Buffering.safeParse(params).data);
    case 'hook/started':
      return hookStatus(params);
    case 'hook/completed':
      return hookStatus(params) === undefined ? undefined : '';
  }
  return undefined;
}

function reviewActivity(report: z.infer<typeof Review> | undefined): string | undefined {
  if (report === undefined) return undefined;
  return `Codex reviews ${wordOf(actions, report.action.type, 'a request')}`;
}

function bufferingActivity(buffering: z.infer<typeof Buffering> | undefined): string | undefined {
  if (buffering === undefined) return undefined;
  return buffering.showBufferingUi ? `${buffering.model} checks its answer before it is shown` : '';
}

const hookStatus = (params: unknown): string | undefined =>
  HookStatus.safeParse(params).data?.run.statusMessage ?? undefined;

const outcomes: Record<string, string> = {
  completed: 'said',
  blocked: hookOutcomes.blocked,
  failed: hookOutcomes.failed,
  stopped: hookOutcomes.stopped,
};

function hookNotice(hook: z.infer<typeof Hook> | undefined): string | undefined {
  if (hook === undefined) return undefined;
  const { eventName, status, entries } = hook.run;
  if (status === 'running' || (status === 'completed' && entries.length === 0)) return undefined;
  const isForModel = status === 'completed' && entries.every(({ kind }) => kind === 'context');
  const outcome = isForModel ? 'told the model' : wordOf(outcomes, status);
  // The hook's name in the configuration.
  const name = `${eventName.slice(0, 1).toUpperCase()}${eventName.slice(1)}`;
  return hookWords(name, outcome, entries.map((entry) => entry.text).join('\n\n'));
}

function reroutedNotice(rerouted: z.infer<typeof Rerouted> | undefined): string | undefined {
  if (rerouted === undefined) return undefined;
  const reason = rerouted.reason ? ` (${spaced(rerouted.reason)})` : '';
  return `${rerouted.toModel} answers in place of ${rerouted.fromModel}${reason}.`;
}

const verifications: Record<string, string> = {
  trustedAccessForCyber:
    'OpenAI asks to verify this account for security work (trusted access for cyber).',
};

function verificationNotice(
  verification: z.infer<typeof Verification> | undefined,
): string | undefined {
  const asked = verification?.verifications ?? [];
  if (asked.length === 0) return undefined;
  return asked
    .map((one) => wordOf(verifications, one, `OpenAI asks to verify this account: ${one}.`))
    .join('\n');
}

const verdicts: Record<string, string> = {
  approved: 'allowed',
  denied: 'refused',
  timedOut: 'did not finish its review of',
  aborted: 'aborted its review of',
};
const actions: Record<string, string> = {
  command: 'a command',
  execve: 'a program',
  writeStdin: 'input to a command',
  applyPatch: 'a change of files',
  networkAccess: 'access to the network',
  mcpToolCall: 'a tool of an MCP server',
  requestPermissions: 'further permissions',
};

function reviewNotice(report: z.infer<typeof Review> | undefined): string | undefined {
  if (report === undefined || report.review.status === 'inProgress') return undefined;
  const { review, action } = report;
  const what = wordOf(actions, action.type, 'the request');
  const why = review.rationale ? `\n\n${review.rationale}` : '';
  return `Codex itself ${wordOf(verdicts, review.status)} ${what}${why === '' ? '.' : `:${why}`}`;
}

const wordOf = (words: Record<string, string>, key: string, other = spaced(key)): string =>
  (Object.hasOwn(words, key) ? words[key] : undefined) ?? other;

const spaced = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
