/** Reads the slash commands that an agent offers. */
import { z } from 'zod';
import type { AgentCommand } from '@liminal/protocol';
import { readFields } from './fields.ts';

const commandsUpdate = { availableCommands: z.array(z.unknown()) };

const command = {
  name: z.string().min(1),
  description: z.string(),
  input: z.looseObject({ hint: z.string().nullish() }),
};

/** Returns the commands; undefined if the update has none. A command without a name is left out. */
export function readCommands(update: unknown): AgentCommand[] | undefined {
  const { availableCommands } = readFields(update, commandsUpdate).fields;
  return availableCommands?.flatMap((value) => {
    const { name, description = '', input } = readFields(value, command).fields;
    if (name === undefined) return [];
    const hint = input?.hint ?? undefined;
    return [{ name: name.replace(/^\//, ''), description, ...(hint !== undefined && { hint }) }];
  });
}
