import type { Scene } from '../script.ts';
import { run, write } from './tools.ts';

const migration = `-- Orders are looked up by customer, newest first.
CREATE INDEX orders_by_customer ON orders (customer_id, created_at DESC);
`;

export const approve: Scene = {
  name: 'approve',
  description: 'Waits for your permission before it runs a command',
  words: ['approv', 'permission', 'allow'],
  steps: [
    {
      do: 'say',
      text: 'Demo, recorded: the slow query filters orders by customer and sorts them by date, and no index covers that. I’ll write a migration for one.\n',
    },
    write('migrations/0042_orders_by_customer.sql', 400, migration),
    {
      do: 'say',
      text: 'Running it changes the development database, so I need your permission. This is a recording: whatever you answer, no command runs.\n',
    },
    {
      do: 'tool',
      name: 'Bash',
      title: 'Run npm run migrate',
      kind: 'execute',
      input: { command: 'npm run migrate', description: 'Apply pending migrations' },
      takes: 1_800,
      exitCode: 0,
      output: `
> shop@2.4.0 migrate
> node scripts/migrate.ts

Applying 0042_orders_by_customer.sql … done in 214 ms
1 migration applied, 41 were there before.
`,
      permission: {
        title: 'Run npm run migrate',
        refused: [
          {
            do: 'say',
            text: `You refused it, so the command did not run. The migration is written but not applied, so the query stays slow.

If you would rather not change this database at all, I can measure the gain on a temporary copy first. Say **approve** to play this scene again.
`,
          },
        ],
      },
    },
    run(
      'npm run explain -- orders-by-customer',
      'Show the query plan',
      900,
      `Index Scan using orders_by_customer on orders  (actual time=0.031..0.187 rows=50)
  Index Cond: (customer_id = 1207)
Planning Time: 0.112 ms
Execution Time: 0.214 ms
`,
    ),
    {
      do: 'say',
      text: `You allowed it, and in the recording the migration went through. The query uses the new index and sorts nothing any more:

| | before | after |
|---|---:|---:|
| plan | sequential scan, sort | index scan |
| time | 412 ms | 0.2 ms |

On a busy production table, build the index with \`CREATE INDEX CONCURRENTLY\`, outside a transaction, so that writes go on meanwhile.
`,
    },
  ],
};
