import type { Scene } from '../script.ts';
import { edit, read, run, search } from './tools.ts';

const before = `export function lineTotal(price: number, quantity: number): number {
  return price * quantity;
}
`;

const after = `/** In whole cents, so that sums of lines add up. */
export function lineTotal(price: number, quantity: number): number {
  return Math.round(price * 100 * quantity) / 100;
}
`;

export const tour: Scene = {
  name: 'tour',
  description: 'Shows what a turn is made of',
  words: ['tour', 'help', 'hello'],
  steps: [
    {
      do: 'say',
      after: 500,
      text: `This is Liminal’s **demo agent**. It plays recorded turns, so that you can look around without a key or a network. It reads and changes nothing on your disk: the project you are about to see is made up.

A turn usually begins with some thought, which is folded away until you want to read it.
`,
    },
    {
      do: 'think',
      text: `The customer saw a cart total of 59.699999999999996. That is what multiplying a price by a quantity in floating point gives, so the rounding is missing where the line total is made, not where it is shown. I should find that place, and check whether a test covers it.`,
    },
    {
      do: 'say',
      text: `Then the agent looks around. What it runs is a card: one line that says what was done to what and how it went. Open it for the rest.
`,
    },
    search(
      'price \\* quantity',
      600,
      `src/cart/line-total.ts:2:  return price * quantity;
src/orders/export.ts:31:    const total = price * quantity; // shown with toFixed(2)
`,
    ),
    read('src/cart/line-total.ts', 350, before),
    { do: 'say', text: 'A change to a file is shown as a diff:\n' },
    edit('src/cart/line-total.ts', 1, 450, [before, after]),
    run(
      'npm test -- cart',
      'Run the cart tests',
      2_400,
      `
> shop@2.4.0 test
> vitest run cart

 ✓ src/cart/line-total.test.ts (6 tests) 11ms
 ✓ src/cart/discount.test.ts (14 tests) 23ms
 ✓ src/cart/cart.test.ts (21 tests) 48ms

 Test Files  3 passed (3)
      Tests  41 passed (41)
   Duration  1.62s
`,
    ),
    {
      do: 'say',
      text: `That was a whole turn: words, thought, a search, a file, a change and a test run. You can write while an agent is at work, and your message waits in the queue; you can stop it at any time; and you can close this page, open it elsewhere and find everything as it was.

Ask for one of these to see more:

| say | and see |
|---|---|
| **fix** | a failing test found and repaired |
| **plan** | a larger change, worked through step by step |
| **approve** | a command that waits for your permission |
| **subagent** | a search handed to a helper |
| **explain** | an answer with code |
| **long** | a long answer |
| **slow** | a command that takes a minute, to stop it |
| **error** | a turn that fails |

Anything else plays the next of them. For work on your own code, start a session with a real agent.
`,
    },
  ],
};
