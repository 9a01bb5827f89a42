import { isRecord } from './fields.ts';

const names = ['parentToolCallId', 'parentToolUseId'] as const;

/**
 * Returns the id of the call that began the subagent which an update belongs to. Read from `_meta`: directly, or from
 * the agent's own part (`_meta.claudeCode.parentToolUseId`). Not part of the protocol.
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
