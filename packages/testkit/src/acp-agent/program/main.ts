/**
 * A scripted ACP agent on stdio: `node main.ts FOLDER`. FOLDER contains `script.json`, the agent's stored sessions and,
 * while a test listens, the socket `control`. `acpAgent` creates such folders.
 */
import { existsSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { ScriptedAgent } from './agent.ts';
import { TestConnection } from './test-connection.ts';
import { Player } from './player.ts';
import type { AgentScript } from '../script.ts';
import { StoredSessions } from './stored-sessions.ts';
import { never, readLines, AgentOutput } from './wire.ts';

const folder = process.argv[2];
if (folder === undefined || process.argv.length > 3 || !existsSync(join(folder, 'script.json'))) {
  process.stderr.write(
    'Usage: node main.ts FOLDER, where FOLDER holds script.json, as acpAgent() writes it.\n',
  );
  process.exit(2);
}

// Read the script without checking it: `acpAgent` has checked it, and loading the schema library would triple the time
// in which a process starts.
const script: AgentScript = JSON.parse(readFileSync(join(folder, 'script.json'), 'utf8'));
const voice = new AgentOutput(process.stdout);
const control = join(folder, 'control');
const test = existsSync(control)
  ? await TestConnection.connect(control, (text) => void voice.raw(text))
  : undefined;
const player = new Player(voice, test);
const stored = new StoredSessions(folder, script.sessions ?? []);
const agent = new ScriptedAgent({ script, player, voice, stored });
// The variable marks the programs that the agent starts, so that the test can end them (see control.ts).
process.env['SCRIPTED_AGENT'] = folder;
if (script.ignoresTerm === true) process.on('SIGTERM', () => undefined);

await agent.start();
// Write the compile cache now, because most scripted agents are killed before they could write the cache at their end.
// With the cache, later processes start in half the time.
flushCompileCache();
for await (const line of readLines(process.stdin)) {
  if (voice.silent) await never;
  await test?.report({ type: 'received', line });
  void agent.receive(line);
}
if (script.outlivesStdin === true) setInterval(() => undefined, 60_000);
else process.exit(0);
