import type { Scene } from '../script.ts';
import { search } from './tools.ts';

export const subagent: Scene = {
  name: 'subagent',
  description: 'Hands a search to a subagent and uses its results',
  words: ['subagent', 'delegate'],
  steps: [
    {
      do: 'say',
      text: 'Demo, recorded: dates are formatted all over this project. I’ll let a subagent look for the places, so that its reading does not fill up our conversation.\n',
    },
    {
      do: 'tool',
      name: 'Agent',
      title: 'Delegate: find where dates are formatted',
      kind: 'think',
      input: {
        description: 'find where dates are formatted',
        subagent_type: 'Explore',
        prompt:
          'Find every place in src that turns a date into text for people. For each, say which format and which time zone it uses. Change nothing.',
      },
      takes: 600,
      steps: [
        search(
          'toLocale(Date|Time)?String|DateTimeFormat',
          500,
          `src/orders/OrderRow.tsx:18:      {order.createdAt.toLocaleDateString()}
src/orders/invoice.ts:44:  const date = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC' });
src/admin/AuditLog.tsx:27:      {entry.at.toLocaleString('en-GB')}
`,
        ),
        search(
          'toISOString\\(\\)\\.(slice|substring)',
          400,
          `src/orders/export.ts:12:const day = (date: Date) => date.toISOString().slice(0, 10);
`,
        ),
        {
          do: 'tool',
          name: 'Read',
          title: 'Read src/orders/invoice.ts, lines 38–60',
          kind: 'read',
          input: { file_path: 'src/orders/invoice.ts', offset: 38, limit: 23 },
          locations: [{ path: 'src/orders/invoice.ts', line: 38 }],
          takes: 350,
          output: `  // The tax office wants the day in UTC, whatever the customer's zone.
  const date = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC' });
`,
        },
        {
          do: 'say',
          text: `Four places:

1. \`src/orders/OrderRow.tsx:18\`: the browser’s locale and zone
2. \`src/admin/AuditLog.tsx:27\`: British English, the browser’s zone
3. \`src/orders/invoice.ts:44\`: British English, UTC on purpose
4. \`src/orders/export.ts:12\`: ISO 8601, UTC
`,
        },
      ],
      output: `Four places format dates: OrderRow.tsx:18 (browser's locale and zone), AuditLog.tsx:27 (en-GB, browser's zone), invoice.ts:44 (en-GB, UTC on purpose), export.ts:12 (ISO 8601, UTC).`,
    },
    {
      do: 'say',
      after: 700,
      text: `The subagent found four places, and they do not agree:

| place | language | time zone |
|---|---|---|
| order list | the browser’s | the browser’s |
| audit log | British English | the browser’s |
| invoice | British English | UTC, for the tax office |
| export | ISO 8601 | UTC |

The first two are the same thing done twice; one function would do for both:

\`\`\`ts
const shown = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A moment, for people, in their own language and time zone. */
export const formatMoment = (moment: Date): string => shown.format(moment);
\`\`\`

I would leave the invoice and the export as they are: both are read by other programs or offices, which rely on their form.
`,
    },
  ],
};
