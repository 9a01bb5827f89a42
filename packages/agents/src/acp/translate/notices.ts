/** An agent's notices besides the conversation. */
import { z } from 'zod';
import { readFields } from './fields.ts';

const notice = {
  sessionUpdate: z.string(),
  severity: z.string(),
  title: z.string(),
  description: z.string(),
};

const prefixes: Record<string, string> = { warning: 'Warning: ', error: 'Error: ' };

/** `tell` is for people, or empty; `rest` must be kept. */
export function readNotice(update: unknown): { tell: string; rest: unknown } {
  const { fields, rest } = readFields(update, notice);
  const { severity = 'info', title = '', description = '' } = fields;
  const words = [title, description].filter((text) => text.trim() !== '').join('\n\n');
  const prefix = Object.hasOwn(prefixes, severity) ? prefixes[severity] : '';
  const kept = severity === 'info' || prefix !== '' ? rest : { ...rest, severity };
  return { tell: words === '' ? '' : `${prefix}${words}`, rest: kept };
}
