/**
 * Plays recorded dialogues between an editor and `liminal acp`. Each line of a `.jsonl` file is either `{"in":
 * message}`, which the editor sends (a string is sent unchanged), or `{"out": message}`, the next message from the
 * agent. In a message, `"{{name}}"` matches any value at its first occurrence, and the same value at later occurrences;
 * `{{*}}` matches anything, also within a longer string. All other values must be equal. The agent may send further
 * updates between the lines, because the division of a text into chunks depends on time. The agent may also send the
 * end of a question between the lines, because this end may cross the question's answer. Further answers and questions
 * are errors.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { AcpEditor, AcpMessage } from '@liminal/testkit/acp-editor';

type Line = { in: unknown } | { out: unknown };
type Values = Map<string, unknown>;

const anything = '{{*}}';

/**
 * Plays a file.
 * @param known - Values for names in the file. Throws at the first line that differs from the recording.
 */
export async function playScenario(
  file: string,
  editor: AcpEditor,
  known: Record<string, unknown>,
): Promise<void> {
  const values: Values = new Map(Object.entries(known));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  let heard = 0;
  for (const [index, text] of lines.entries()) {
    const line = JSON.parse(text) as Line;
    if ('in' in line) {
      if (typeof line.in === 'string') editor.sendLine(line.in);
      else editor.send(filled(line.in, values) as AcpMessage);
      continue;
    }
    for (;;) {
      const message = await editor.message(heard++);
      const bound = new Map(values);
      if (isAs(line.out, message, bound)) {
        for (const [name, value] of bound) values.set(name, value);
        break;
      }
      if (mayComeBetween(message)) continue;
      const wanted = `line ${index + 1}: ${JSON.stringify(filled(line.out, values))}`;
      throw new Error(`Instead of ${wanted}\nthe agent sent: ${JSON.stringify(message)}`);
    }
  }
  const others = editor.received.slice(heard).filter((one) => !mayComeBetween(one));
  if (others.length > 0) throw new Error(`The agent also sent: ${JSON.stringify(others)}`);
}

const mayComeBetween = ({ method }: AcpMessage): boolean =>
  method === 'session/update' || method === '$/cancel_request';

const nameIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^\{\{(\w+)\}\}$/.exec(value)?.[1] : undefined;

/** Whether a message matches the recorded message. Binds names to values at their first occurrence. */
function isAs(recorded: unknown, said: unknown, values: Values): boolean {
  if (recorded === anything) return said !== undefined;
  const name = nameIn(recorded);
  if (name !== undefined) {
    if (said === undefined) return false;
    if (values.has(name)) return isDeepStrictEqual(values.get(name), said);
    values.set(name, said);
    return true;
  }
  if (typeof recorded === 'string' && recorded.includes('{{')) {
    return typeof said === 'string' && isLike(recorded, said, values);
  }
  if (typeof recorded !== 'object' || recorded === null) return recorded === said;
  if (typeof said !== 'object' || said === null) return false;
  if (Array.isArray(recorded) !== Array.isArray(said)) return false;
  const keys = new Set([...Object.keys(recorded), ...Object.keys(said)]);
  const [one, other] = [recorded, said] as [Record<string, unknown>, Record<string, unknown>];
  return [...keys].every((key) => isAs(one[key], other[key], values));
}

function isLike(recorded: string, said: string, values: Values): boolean {
  const parts = (filled(recorded, values) as string).split(anything);
  const escaped = parts.map((part) => RegExp.escape(part));
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(said);
}

/** Replaces names with their values. */
function filled(value: unknown, values: Values): unknown {
  const name = nameIn(value);
  if (name !== undefined && values.has(name)) return values.get(name);
  if (typeof value === 'string') {
    return value.replaceAll(/\{\{(\w+)\}\}/g, (all, one: string) => {
      const known = values.get(one);
      return typeof known === 'string' ? known : all;
    });
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, values));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, filled(one, values)] as const);
  return Object.fromEntries(entries);
}
