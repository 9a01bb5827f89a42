import { afterEach, expect, test } from 'vitest';
import { countAgents } from '../../src/process/count-agents.ts';
import { processMark, serverId } from '../../src/process/mark.ts';
import { hasProcessTable } from '../../src/process/table.ts';
import { fellTrees, growTree } from './tree.ts';

afterEach(fellTrees);

const script = `setsid sh -c '(sleep 300 & echo $!)' & sleep 300 & echo $!; wait`;

test.runIf(hasProcessTable)(
  'an agent’s processes and their descendants, detached or not, are counted with their memory; other servers’ are not',
  async () => {
    const other = { LIMINAL_MARK: '1.2.another-server/1-2-3/another' };
    await growTree(script, 2, other);
    // A mark that the program of an agent could have written itself: its agent type has an invalid escape.
    await growTree(script, 2, { LIMINAL_MARK: `${serverId}/1-2-3/%E0%A4%A` });
    await growTree(script, 2, processMark('my agent/π').env);
    const mine = { cliType: 'my agent/π', processes: 3, residentBytes: expect.any(Number) };
    // Only the processes in `mine` remain, because the shells that started them end by themselves.
    await expect.poll(countAgents).toEqual([mine]);
    const [counted] = await countAgents();
    expect(counted!.residentBytes).toBeGreaterThan(3 * 100_000);
    expect(counted!.residentBytes).toBeLessThan(3 * 100_000_000);
  },
);
