/** Compares the keys in docs/terminal-commands.md with the help screens of the agents' terminals. */
import { expect, onTestFinished, test } from 'vitest';
import { claudeKeys, codexKeys } from '../../../../scripts/agent-interfaces/terminal-keys.ts';
import { InTerminal, makeStage } from './claude-lanes.ts';
import { CodexInTerminal, makeCodexStage } from './codex-lanes.ts';

/** The cells of the columns on a screen, between two lines. */
function cellsIn(screen: string, first: RegExp, last: RegExp): string[] {
  const rows = screen.split('\n');
  const from = rows.findLastIndex((row) => first.test(row)) + 1;
  const to = rows.findLastIndex((row) => last.test(row)) + 1;
  return rows.slice(from, to).flatMap((row) => row.trim().split(/ {2,}/).filter(Boolean));
}

test('the documented keys of Claude Code match its help screen', async () => {
  const stage = await makeStage(() => []);
  const person = new InTerminal(stage);
  onTestFinished(async () => {
    await person.close();
    await stage.close();
  });
  await person.begin();
  const cells = cellsIn(await person.help(), /^─+$/, /to customize/);
  const listed = claudeKeys.filter(({ unlisted }) => unlisted !== true);
  const words = listed.map(({ keys, does }) => `${keys} ${does}`);
  // The explanation of one key takes two lines.
  expect(cells.filter((cell) => !words.some((one) => one.includes(cell)))).toEqual([]);
  expect(words.filter((one) => !cells.some((cell) => one.startsWith(cell)))).toEqual([]);
});

test('the documented keys of Codex match its help screen', async () => {
  const stage = await makeCodexStage([]);
  const person = new CodexInTerminal(stage);
  onTestFinished(async () => {
    await person.close();
    await stage.close();
  });
  await person.begin();
  const cells = cellsIn(await person.help(), /Compose .*Session/, /customize/);
  const listed = codexKeys.filter(({ unlisted }) => unlisted !== true);
  const known = listed.flatMap(({ keys, does }) => [keys, does, `${keys} ${does}`]);
  expect(cells.filter((cell) => !known.includes(cell))).toEqual([]);
  // The effect of Tab and ^C depends on whether Codex is working.
  const isShown = ({ keys }: { keys: string }): boolean =>
    cells.some((cell) => cell.startsWith(keys));
  expect(listed.filter((one) => !isShown(one))).toEqual([]);
});
