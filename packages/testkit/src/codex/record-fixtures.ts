/**
 * Records the real `codex app-server` in every case, or in the named ones:
 *
 *     npm run record:codex -w @liminal/testkit            # all
 *     npm run record:codex -w @liminal/testkit -- text command
 *
 * Run it after an upgrade of `@openai/codex` and read the difference, which shows the program's changes. Recording
 * needs no key and no network.
 */
import { codexCases } from './cases/index.ts';
import { codexFixtures } from './fixtures.ts';
import { recordCodex } from './record.ts';

const wanted = process.argv.slice(2);
const chosen = codexCases.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

for (const recordedCase of chosen) {
  const recording = await recordCodex(recordedCase);
  await codexFixtures.save(recording);
  console.log(`${recording.name}: ${recording.entries.length} lines`);
}
