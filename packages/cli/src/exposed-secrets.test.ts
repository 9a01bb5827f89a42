import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

/**
 * Runs `exposedSecrets` in a process whose environment is `own`. The environment of its parent process is `parents`.
 */
async function foundIn(own: object, parents: object, given: Record<string, string>) {
  const module = new URL('./exposed-secrets.ts', import.meta.url).href;
  const look = `import(${JSON.stringify(module)}).then(({ exposedSecrets }) =>
    process.stdout.write(process.pid + ' ' + process.ppid + ' ' + exposedSecrets(${JSON.stringify(given)})))`;
  const child = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(look)}],
    { env: ${JSON.stringify(own)}, stdio: 'inherit' })`;
  const parent = spawn(process.execPath, ['-e', child], { env: { ...parents } });
  onTestFinished(() => void parent.kill());
  let said = '';
  parent.stdout.on('data', (data) => (said += String(data)));
  await once(parent, 'close');
  const [, pid = '', ppid = '', text = ''] = /^(\d+) (\d+) (.*)$/s.exec(said) ?? [];
  return text
    .replace(pid, '<own>')
    .replace(ppid, '<parent>')
    .replace(/\([^)]+\)/, '(node)');
}

const hidden = { LIMINAL_TOKEN: 'hush' };

test.runIf(process.platform === 'linux')(
  'SAFE: if the environment of this process or of a parent process shows a secret, that process is reported',
  async () => {
    expect(await foundIn(hidden, {}, hidden)).toBe(
      'Agents can read LIMINAL_TOKEN in the environment of process <own> (node): this system lets no program hide its environment.',
    );
    expect(await foundIn({}, hidden, hidden)).toBe(
      'Agents can read LIMINAL_TOKEN in the environment of process <parent> (node), which keeps running. Set it only for ./liminal: LIMINAL_TOKEN=… ./liminal',
    );
  },
);

test('a variable without a secret is not reported, and neither is a secret’s variable that has another value', async () => {
  expect(await foundIn(hidden, {}, { LIMINAL_TOKEN: 'hush-2' })).toBe('undefined');
  expect(await foundIn({ LIMINAL_PORT: '1' }, {}, { LIMINAL_PORT: '1' })).toBe('undefined');
});
