import type { Scene } from '../script.ts';
import { run } from './tools.ts';

const suites = [
  'sign up with an e-mail address',
  'sign up with an address that is taken',
  'sign in and out',
  'reset a forgotten password',
  'change the e-mail address',
  'put a product in the cart',
  'change a quantity in the cart',
  'take the last one out of the cart',
  'pay by card',
  'pay by card that is refused',
  'pay by invoice',
  'use a voucher',
  'use a voucher twice',
  'follow an order',
  'cancel an order before it is sent',
  'send an order back',
  'find a product by its name',
  'find a product in spite of a typing error',
  'filter by price and by size',
  'write a review',
  'report a review',
  'sign in as an administrator',
  'refund an order',
  'export the orders of a month',
];

const minute = 60_000;

export const slow: Scene = {
  name: 'slow',
  description: 'Runs a command for a minute, so that you can stop it or queue messages',
  words: ['slow'],
  steps: [
    {
      do: 'say',
      text: 'Demo, recorded: the browser tests take about a minute. You can stop me meanwhile, or write what I should do next: it waits in the queue.\n',
    },
    run(
      'npm run test:browser',
      'Run all browser tests',
      minute,
      [
        `Running ${suites.length} tests using 1 worker`,
        '',
        ...suites.map((name, index) => `  ✓  ${index + 1} ${name}`),
        '',
        `  ${suites.length} passed (1.0m)`,
        '',
      ].join('\n'),
    ),
    {
      do: 'say',
      text: `All ${suites.length} browser tests passed in the recording. Nothing to repair.\n`,
    },
  ],
};
