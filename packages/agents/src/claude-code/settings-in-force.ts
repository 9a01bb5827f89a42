import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

/** What Claude Code's own settings, of user, project and machine, come to. */
export interface SettingsInForce {
  /** The model that is used, by its full name. */
  model?: string | undefined;
  /** Modes that the settings rule out. */
  ruledOut: ReadonlySet<string>;
}

const Answer = z.looseObject({
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
  applied: z.looseObject({ model: z.string().optional() }).catch({}),
});

/** Asks the running Claude Code. One that does not tell is taken to have no settings. */
export async function askSettings(query: Query): Promise<SettingsInForce> {
  const { effective, applied } = Answer.parse(await answered(query));
  const { permissions, disableAutoMode } = effective;
  const ruledOut = new Set<string>();
  if ((permissions?.disableAutoMode ?? disableAutoMode) === 'disable') ruledOut.add('auto');
  if (permissions?.disableBypassPermissionsMode === 'disable') ruledOut.add('bypassPermissions');
  return { model: applied.model, ruledOut };
}

/** The SDK can ask for them, though its types do not say so. */
async function answered(query: Query): Promise<unknown> {
  const ask: unknown = Reflect.get(query, 'getSettings');
  if (typeof ask !== 'function') return {};
  return Promise.resolve(ask.call(query)).catch(() => ({}));
}
