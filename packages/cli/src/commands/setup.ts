import type { SessionSetup } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

/** Prints a session's setup: its agent's facts, permission rules, hooks, skills, plugins and memory files. */
export async function setup(sessionId: string, config: Config): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  const { requests } = client;
  try {
    for (const row of setupRows(await requests.setup(sessionId))) console.log(oneRow(row));
    return 0;
  } finally {
    await close();
  }
}

function setupRows({ facts, parts }: SessionSetup): string[] {
  return [
    ...facts.map(({ name, value }) => `${name}: ${value}`),
    ...parts.flatMap(({ kind, entries }) => [
      `${kind}:${entries.length === 0 ? ' none' : ''}`,
      ...entries.map(({ name, detail, source, isOff }) => {
        const more = [detail, source, ...(isOff === true ? ['not active'] : [])];
        return `  ${[name, ...more.filter((one) => one !== undefined)].join(' | ')}`;
      }),
    ]),
  ];
}
