import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const source = new URL('../src/outlive-rejections.ts', import.meta.url).href;

test('SAFE: an unhandled rejection is logged, and does not end the process', async () => {
  const program = `
    import { outliveRejections } from '${source}';
    const stop = outliveRejections({ error: (details, message) => console.log(message, details.error) });
    void Promise.reject(new Error('Nobody waits for this.'));
    setImmediate(() => { console.log('Still here.'); stop(); Promise.reject(new Error('Late.')); });`;
  const args = ['--input-type=module', '--eval', program];
  const ended = await run(process.execPath, args).catch((error: unknown) => error);
  expect(ended).toMatchObject({ code: 1 });
  expect(ended).toHaveProperty(
    'stdout',
    expect.stringMatching(
      /the server keeps running Error: Nobody waits for this\.[^]*Still here\.\n$/,
    ),
  );
  expect(ended).toHaveProperty('stderr', expect.stringContaining('Late.'));
});
