import { isRecord } from './fields.ts';

const names = ['parentToolCallId', 'parentToolUseId'] as const;

/**
 * The call of a subagent that an update belongs to, as `_meta` tells it: in itself, or in the part that its agent has
 * there (`_meta.claudeCode.parentToolUseId`). No part of the protocol.
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
