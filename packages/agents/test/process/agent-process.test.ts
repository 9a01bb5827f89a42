import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { AgentProcess } from '../../src/base/agent-process.ts';

test('a character that arrives in two pieces is read whole', async () => {
  // The second piece follows only after this test has read the first piece.
  const program = `
    process.stdout.write(Buffer.from([0x61, 0x0a, 0xc3]));
    process.stdin.once('data', () => process.stdout.write(Buffer.from([0xa9, 0x0a]), process.exit));
  `;
  const agent = new AgentProcess({
    command: process.execPath,
    args: ['-e', program],
    env: {},
    inherited: process.env,
    cwd: tmpdir(),
  });
  const lines: string[] = [];
  const { promise: gone, resolve: onGone } = Promise.withResolvers<Error>();
  const onLine = (line: string): void => {
    lines.push(line);
    if (line === 'a') agent.write('go on');
  };
  void agent.listen({ onLine, onGone });
  await gone;
  await agent.end(true);
  expect(lines).toEqual(['a', 'é']);
});
