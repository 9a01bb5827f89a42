import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

/** Claude Code's settings in force: the settings of user, project and machine combined. */
export interface SettingsInForce {
  /** The full name of the model in use. */
  model?: string | undefined;
  /** The effort of the next request; undefined if the model has no effort. */
  effort?: string | undefined;
  /** Modes that the settings forbid. */
  ruledOut: ReadonlySet<string>;
}

const SettingsAnswer = z.looseObject({
  effective: z
    .looseObject({
      disableAutoMode: z.string().optional(),
      permissions: z
        .looseObject({
          disableAutoMode: z.string().optional(),
          disableBypassPermissionsMode: z.string().optional(),
        })
        .optional(),
    })
    .catch({}),
  applied: z
    .looseObject({ model: z.string().optional(), effort: z.string().nullish().catch(undefined) })
    .catch({}),
});

/** Requests the settings of the running Claude Code; empty if Claude Code does not answer. */
export async function askSettings(query: Query): Promise<SettingsInForce> {
  const { effective, applied } = SettingsAnswer.parse(await requestSettings(query));
  const { permissions, disableAutoMode } = effective;
  const ruledOut = new Set<string>();
  if ((permissions?.disableAutoMode ?? disableAutoMode) === 'disable') ruledOut.add('auto');
  if (permissions?.disableBypassPermissionsMode === 'disable') ruledOut.add('bypassPermissions');
  return { model: applied.model, effort: applied.effort ?? undefined, ruledOut };
}

/** Calls a method of the SDK that is missing from the SDK's types. */
async function requestSettings(query: Query): Promise<unknown> {
  const ask: unknown = Reflect.get(query, 'getSettings');
  if (typeof ask !== 'function') return {};
  return Promise.resolve(ask.call(query)).catch(() => ({}));
}
