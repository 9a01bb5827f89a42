import { z } from 'zod';
import { hookOutcomes, hookWords } from '../../../base/hook-words.ts';

const text = z.string().catch('');

const HookResponse = z.looseObject({
  hook_name: z.string(),
  outcome: z.string(),
  exit_code: z.number().optional().catch(undefined),
  stdout: text,
  stderr: text,
});

/** The JSON answer of a hook that has not failed. */
const HookAnswer = z.looseObject({
  decision: z.string().optional().catch(undefined),
  reason: text,
  continue: z.boolean().optional().catch(undefined),
  stopReason: text,
  hookSpecificOutput: z
    .looseObject({
      hookEventName: z.string(),
      permissionDecision: z.string().optional().catch(undefined),
      permissionDecisionReason: text,
    })
    .optional()
    .catch(undefined),
});

/**
 * The exit code with which a hook refuses; other codes mean that the hook failed. A hook cannot refuse a session's
 * start.
 */
const refuses = 2;

/** Returns a notice about a hook that refused an action, stopped the turn or failed; undefined for other hooks. */
export function hookNotice(message: unknown): string | undefined {
  const response = HookResponse.safeParse(message).data;
  if (response === undefined) return undefined;
  const { hook_name: name, outcome, exit_code: code, stdout, stderr } = response;
  if (outcome === 'error') {
    if (code === refuses && !name.startsWith('SessionStart'))
      return hookWords(name, hookOutcomes.blocked, stderr);
    const exit = code === undefined ? '' : ` (exit code ${code})`;
    return hookWords(name, `${hookOutcomes.failed}${exit}`, stderr || stdout);
  }
  if (outcome !== 'success') return undefined;
  const answer = answerIn(stdout);
  if (answer?.continue === false) return hookWords(name, hookOutcomes.stopped, answer.stopReason);
  const { hookEventName, permissionDecision, permissionDecisionReason } =
    answer?.hookSpecificOutput ?? {};
  // For a skill's command, every decision except `allow` is a refusal. Refusals of tool calls need no notice: the
  // call's result reports them.
  if (hookEventName === 'PreSkillShellCommand' && (permissionDecision ?? 'allow') !== 'allow')
    return hookWords(name, hookOutcomes.blocked, permissionDecisionReason ?? '');
  if (answer?.decision !== 'block') return undefined;
  return hookWords(name, hookOutcomes.blocked, answer.reason);
}

function answerIn(stdout: string): z.infer<typeof HookAnswer> | undefined {
  if (!stdout.trimStart().startsWith('{')) return undefined;
  try {
    return HookAnswer.safeParse(JSON.parse(stdout)).data;
  } catch {
    return undefined;
  }
}
