/**
 * Tests output of agents that is extremely large or numerous: the turn ends, all of the output can be read, and other
 * sessions are not affected.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Runtime } from '@liminal/runtime';
import type { Step } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Reader } from '../../packages/runtime/test/reader.ts';
import { scriptedAgent, serverStage } from '../outside/server-stage.ts';

const says = (update: object): Step => ({
  raw: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{sessionId}}","update":${JSON.stringify(update)}}}`,
});
const mebi = 1024 * 1024;
const call = (toolCallId: string, fields: object = {}) =>
  says({ sessionUpdate: 'tool_call', toolCallId, title: 'Run', kind: 'execute', ...fields });
const update = (toolCallId: string, fields: object) =>
  says({ sessionUpdate: 'tool_call_update', toolCallId, ...fields });

const inputs: [what: string, steps: Step[]][] = [
  [
    'a message of 24 MiB of quotes, in pieces',
    [
      ...Array.from({ length: 24 }, () =>
        says({
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text: '"'.repeat(mebi) },
        }),
      ),
      call('c'),
      update('c', { status: 'completed' }),
    ],
  ],
  [
    'an output of 24 MiB in one line',
    [call('c'), update('c', { status: 'completed', rawOutput: { output: 'x'.repeat(24 * mebi) } })],
  ],
  [
    'an input of a million leaves',
    [
      call('c', { rawInput: { list: Array.from({ length: 1_000_000 }, (_, n) => n) } }),
      update('c', { status: 'completed' }),
    ],
  ],
  [
    'two thousand calls of one id',
    Array.from({ length: 2_000 }, () => [call('c'), update('c', { status: 'completed' })]).flat(),
  ],
  ['five thousand calls that never end', Array.from({ length: 5_000 }, (_, n) => call(`c${n}`))],
  [
    'twenty unknown updates of 10 MiB',
    Array.from({ length: 20 }, () => says({ sessionUpdate: 'hologram', x: 'y'.repeat(10 * mebi) })),
  ],
  [
    'a title and commands of 10 MiB',
    [
      says({ sessionUpdate: 'session_info_update', title: 't'.repeat(10 * mebi) }),
      says({
        sessionUpdate: 'available_commands_update',
        availableCommands: Array.from({ length: 50_000 }, (_, n) => ({
          name: `c${n}`,
          description: 'd'.repeat(200),
        })),
      }),
    ],
  ],
];

test.each(inputs)(
  'SAFE: with %s, the turn ends, the whole output can be read, and another session continues',
  async (_, steps) => {
    const { projectDir, provide } = await scriptedAgent({
      turns: [
        { when: 'Go', steps: [...steps, { say: 'Still here.' }] },
        { steps: [{ say: 'And again.' }] },
      ],
    });
    const stage = await serverStage(projectDir, provide);
    const [hostile, healthy] = [await stage.create(), await stage.create()];
    await stage.runTurn(healthy, 'Hello.');
    const stalls = monitorEventLoopDelay({ resolution: 5 });
    stalls.enable();
    await Promise.all([stage.runTurn(hostile, 'Go.'), stage.runTurn(healthy, 'Hello again.')]);
    stalls.disable();
    await stage.runTurn(hostile, 'On.');
    const reader = new Reader(stage.runtime, hostile);
    await reader.untilType('session:history');
    expect(JSON.stringify([...reader.items.values()])).toContain('And again.');
    reader.close();
    const pages = await pagesOf(stage.runtime, hostile);
    expect(pages.join('')).toContain('Still here.');
    // One item that consists of quotation marks: each takes two characters in JSON.
    for (const page of pages) expect(page.length).toBeLessThan(40 * mebi);
    expect(stage.warnings).toEqual([]);
    // The limit is far above the measured value (`npm run bench`), so that the test does not fail on a busy machine.
    // Before the error was fixed, the value was half a minute.
    expect(stalls.max / 1e6).toBeLessThan(4_000);
    expect((await stage.stored(hostile)).length).toBeLessThan(3 * sizeOf(steps) + mebi);
  },
);

async function pagesOf(runtime: Runtime, sessionId: string): Promise<string[]> {
  const pages: string[] = [];
  for (let before: string | undefined; ;) {
    const page = await runtime.history(sessionId, { before });
    pages.push(JSON.stringify(page.entries));
    if (!page.hasMore) return pages;
    before = page.before;
  }
}

const sizeOf = (steps: readonly Step[]): number => JSON.stringify(steps).length;
