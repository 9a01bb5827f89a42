import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Installation } from './faults/installation.ts';

const run = promisify(execFile);

/** Runs its first argument as a script, and prints the script's result. */
const program = `
import { runScript } from '@liminal/agents/scripts';

export async function main([code]) {
  const host = {
    tools: [{ name: 'echo' }],
    call: async (_name, input) => ({ output: JSON.stringify(input), success: true }),
  };
  console.log(JSON.stringify(await runScript(code, host, { signal: new AbortController().signal })));
  return 0;
}
`;

test('scripts run in the bundle in the same way as from the sources', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-scripts-')));
  onTestFinished(async () => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const { liminal } = await Installation.make(root);
  await writeFile(join(root, 'packages/cli/src/program.ts'), program);
  const ask = async () => {
    const code = 'print("said"); return [await tools.echo({ a: 1 })]';
    const { stdout, stderr } = await run(process.execPath, [liminal, code]);
    return { outcome: JSON.parse(stdout) as unknown, from: stderr };
  };
  const outcome = { ok: true, result: ['{"a":1}'], printed: 'said\n' };
  expect(await ask()).toEqual({ outcome, from: '' });

  await run(process.execPath, [join(root, 'packages/cli/bin/make-bundle.js')]);
  const bundles = join(root, 'node_modules/.cache/liminal');
  const [made = ''] = await readdir(bundles);
  await appendFile(join(bundles, made, 'program.mjs'), '\nconsole.error("the bundle");\n');
  expect(await ask()).toEqual({ outcome, from: 'the bundle\n' });
});
