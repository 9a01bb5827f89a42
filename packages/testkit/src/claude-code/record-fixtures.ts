/**
 * Records what the real Claude Code does in every case, or in those named:
 *
 *     npm run record -w @liminal/testkit            # all
 *     npm run record -w @liminal/testkit -- text tool-edit
 *
 * Run it after an upgrade of `@anthropic-ai/claude-agent-sdk` and read the difference: it is what has changed in the
 * program. It needs neither a key nor a network.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claudeCases } from './cases/index.ts';
import { claudeFixtures } from './fixtures.ts';
import { recordClaude } from './record.ts';
import type { ClaudeRecording } from './recording.ts';

const wanted = process.argv.slice(2);
const chosen = claudeCases.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

await mkdir(claudeFixtures, { recursive: true });
for (const recordedCase of chosen) {
  const recording = await recordClaude(recordedCase);
  await writeFile(join(claudeFixtures, `${recording.name}.json`), print(recording));
  console.log(`${recording.name}: ${recording.entries.length} entries`);
}

/** One entry a line, so that a difference shows what changed. */
function print({ entries, ...head }: ClaudeRecording): string {
  const lines = entries.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n');
  const start = JSON.stringify(head, null, 2).slice(0, -2);
  return `${start},\n  "entries": [\n${lines}\n  ]\n}\n`;
}
