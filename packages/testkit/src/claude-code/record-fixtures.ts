/**
 * Records the real Claude Code in every case, or in the named ones:
 *
 *     npm run record -w @liminal/testkit            # all
 *     npm run record -w @liminal/testkit -- text tool-edit
 *
 * Run it after an upgrade of `@anthropic-ai/claude-agent-sdk` and read the difference, which shows the program's
 * changes. Recording needs no key and no network.
 */
import { claudeCases } from './cases/index.ts';
import { claudeFixtures } from './fixtures.ts';
import { recordClaude } from './record.ts';

const wanted = process.argv.slice(2);
const chosen = claudeCases.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

for (const recordedCase of chosen) {
  const recording = await recordClaude(recordedCase);
  await claudeFixtures.save(recording);
  console.log(`${recording.name}: ${recording.entries.length} entries`);
}
