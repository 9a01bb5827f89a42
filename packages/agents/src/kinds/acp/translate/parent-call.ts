import { isRecord } from './fields.ts';

const names = ['parentToolCallId', 'parentToolUseId'] as const;

/**
 * If an update comes from a subagent, returns the id of the call that began the subagent. The id is a field of `_meta`,
 * or of the agent's own part of `_meta` (`_meta.claudeCode.parentToolUseId`); the field is not part of the protocol.
 */
export function parentCallOf(meta: unknown): string | undefined {
  if (!isRecord(meta)) return undefined;
  for (const part of [meta, ...Object.values(meta)]) {
    const ids = isRecord(part) ? names.map((name) => part[name]) : [];
    const id = ids.find((one) => typeof one === 'string' && one !== '');
    if (typeof id === 'string') return id;
  }
  return undefined;
}
