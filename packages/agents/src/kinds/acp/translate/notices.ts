/** Reads an agent's notices. Notices are not part of the conversation. */
import { z } from 'zod';
import { readFields } from './fields.ts';

const notice = {
  sessionUpdate: z.string(),
  severity: z.string(),
  title: z.string(),
  description: z.string(),
};

const prefixes: Record<string, string> = { warning: 'Warning: ', error: 'Error: ' };

/**
 * Returns the text for people (`shown`), which may be empty, and the unread fields (`rest`), which the caller must
 * keep.
 */
export function readNotice(update: unknown): { shown: string; rest: unknown } {
  const { fields, rest } = readFields(update, notice);
  const { severity = 'info', title = '', description = '' } = fields;
  const words = [title, description].filter((text) => text.trim() !== '').join('\n\n');
  const prefix = Object.hasOwn(prefixes, severity) ? prefixes[severity] : '';
  const kept = severity === 'info' || prefix !== '' ? rest : { ...rest, severity };
  return { shown: words === '' ? '' : `${prefix}${words}`, rest: kept };
}
