/** Plays recorded dialogues with `liminal acp --agent demo`. All dialogues run at the same time on one server. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AcpEditor } from '@liminal/testkit/acp-editor';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { liminal, LiminalServer } from '../e2e/server.ts';
import { playScenario } from './scenario.ts';

const folder = fileURLToPath(new URL('scenarios', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

let root: string;
let server: LiminalServer;
let env: Record<string, string>;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-scenarios-')));
  env = { PATH: process.env['PATH'] ?? '', HOME: root };
  server = await LiminalServer.start({ dataDir: join(root, 'data'), env });
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

describe('scenarios', () => {
  test.concurrent.each(files.map((file) => basename(file, '.jsonl')))(
    'FR-039-07 NFR-039-03: %s replays as recorded, with only lines of the protocol',
    async (name) => {
      const cwd = join(root, name);
      mkdirSync(cwd);
      const args = [liminal, 'acp', '--agent', 'demo', '--data', join(root, 'data')];
      const editor = new AcpEditor({ command: process.execPath, args, cwd, env });
      try {
        await playScenario(join(folder, `${name}.jsonl`), editor, { cwd });
        expect(await editor.end()).toBe(0);
      } finally {
        await editor.kill();
      }
    },
  );
});
