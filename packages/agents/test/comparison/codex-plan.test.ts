/** Compares a Codex plan that is implemented in a new thread, in Codex' own terminal and through Liminal. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, type ModelScript } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { codexDifferences } from './codex-differences.ts';
import { CodexInLiminal, CodexInTerminal, type CodexStage, makeCodexStage } from './codex-lanes.ts';
import { compare } from './compare.ts';

const titleWords = 'Generate a concise, single-line task title';
const plan = 'Here it is.\n<proposed_plan>\n# Bread\n- Knead\n\n- Bake\n</proposed_plan>';

const script: ModelScript = ({ prompt }) => {
  if (prompt.startsWith(titleWords)) return answer('A title');
  if (prompt === 'Plan it.') return answer(plan);
  return answer(prompt === 'And then?' ? 'Then this.' : 'Baked.');
};

/** The contents of the plan files that Codex was given. */
const plansOf = ({ workspace }: CodexStage): Promise<string[]> => {
  const files = globSync(join(workspace.home, '.codex/attachments/*/approved-plan.md'));
  return Promise.all(files.map((file) => readFile(file, 'utf8')));
};

test('a plan that is implemented in a new thread reaches the model in the same form as from Codex’ own terminal', async () => {
  const stages = await Promise.all([makeCodexStage(script), makeCodexStage(script)]);
  const people = [new CodexInTerminal(stages[0]), new CodexInLiminal(stages[1])] as const;
  onTestFinished(async () => {
    for (const one of [...people, ...stages]) await one.close();
  });
  await Promise.all(
    people.map(async (person) => {
      await person.begin();
      await person.planAfresh('Plan it.', 'Baked.');
      await person.send('And then?', 'Then this.');
    }),
  );
  const bodies = stages.map(({ api }) =>
    api.requests.filter(({ prompt }) => !prompt.startsWith(titleWords)).map(({ body }) => body),
  );
  expect(bodies.map((asked) => asked.length)).toEqual([3, 3]);
  // Neither the request for a plan nor the text around the plan is part of the new thread.
  expect(JSON.stringify(bodies[1]!.slice(1))).not.toMatch(/Plan it\.|Here it is\./);
  const own = stages.map((stage) => stage.own);
  expect(compare(bodies, own, codexDifferences, new Set())).toEqual([]);
  const plans = await Promise.all(stages.map(plansOf));
  expect(plans[0]).toEqual(['# Bread\n- Knead\n\n- Bake\n']);
  expect(plans[1]).toEqual(plans[0]);
});
