import { afterEach, expect, test } from 'vitest';
import { countAgents } from '../../src/process/count-agents.ts';
import { processMark, serverId } from '../../src/process/mark.ts';
import { hasProcessTable } from '../../src/process/table.ts';
import { fellTrees, growTree } from './tree.ts';

afterEach(fellTrees);

const script = `setsid sh -c '(sleep 300 & echo $!)' & sleep 300 & echo $!; wait`;

test.runIf(hasProcessTable)(
  'the processes of an agent are counted with all that they have started, detached or not, and their memory; those of others are not',
  async () => {
    const other = { LIMINAL_MARK: '1.2.another-server/1-2-3/another' };
    await growTree(script, 2, other);
    // What an agent's programs make up is no agent type, and no escape that can be read.
    await growTree(script, 2, { LIMINAL_MARK: `${serverId}/1-2-3/%E0%A4%A` });
    await growTree(script, 2, processMark('my agent/π').env);
    const mine = { cliType: 'my agent/π', processes: 3, residentBytes: expect.any(Number) };
    // The shells that begin them end on their own.
    await expect.poll(countAgents).toEqual([mine]);
    const [counted] = await countAgents();
    expect(counted!.residentBytes).toBeGreaterThan(3 * 100_000);
    expect(counted!.residentBytes).toBeLessThan(3 * 100_000_000);
  },
);
