import type { Scene } from '../script.ts';
import { edit, read, run, search, write } from './tools.ts';

const loaderBefore = `export function loadConfig(path: string): Config {
  const raw = JSON.parse(readFileSync(path, 'utf8'));
  return {
    port: raw.port ?? 8080,
    host: raw.host ?? 'localhost',
    retries: raw.retries ?? 3,
  };
}
`;

const loaderAfter = `export function loadConfig(path: string): Config {
  const parsed = Config.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new ConfigError(\`\${path}: \${z.prettifyError(parsed.error)}\`);
}
`;

const schema = `import { z } from 'zod';

/** What a config file may say, and what holds where it says nothing. */
export const Config = z.strictObject({
  port: z.number().int().min(1).max(65_535).default(8080),
  host: z.string().min(1).default('localhost'),
  retries: z.number().int().min(0).default(3),
});
export type Config = z.infer<typeof Config>;

/** The file was read and makes no sense; the message says where. */
export class ConfigError extends Error {}
`;

const typesBefore = `export interface Config {
  port: number;
  host: string;
  retries: number;
}
`;

export const plan: Scene = {
  name: 'plan',
  description: 'Works through a plan, step by step',
  words: ['plan'],
  steps: [
    {
      do: 'say',
      text: 'Demo, recorded: this touches three files, so I’ll make a plan and keep it up to date as I go.\n',
    },
    {
      do: 'plan',
      entries: [
        { content: 'See who uses the config loader', priority: 'high' },
        { content: 'Describe the config as a schema', priority: 'high' },
        { content: 'Let the loader use the schema', priority: 'high' },
        { content: 'Remove the interface it replaces', priority: 'medium' },
        { content: 'Run the type check and the tests', priority: 'medium' },
      ],
    },
    { do: 'progress', after: 700, completed: 0 },
    search(
      'loadConfig|Config }',
      500,
      `src/config/load-config.ts:5:export function loadConfig(path: string): Config {
src/main.ts:3:import { loadConfig } from './config/load-config.ts';
src/server/listen.ts:1:import type { Config } from '../config/config.ts';
src/jobs/retry.ts:2:import type { Config } from '../config/config.ts';
`,
    ),
    read('src/config/load-config.ts', 300, loaderBefore),
    { do: 'progress', completed: 1 },
    {
      do: 'think',
      text: `The two other users import only the type, so inferring it from the schema under the same name keeps them as they are. strictObject matters here: with a plain object a misspelt "retry" would be ignored, which is what the issue complains about.`,
    },
    write('src/config/schema.ts', 400, schema),
    { do: 'progress', completed: 2 },
    edit('src/config/load-config.ts', 5, 400, [loaderBefore, loaderAfter]),
    { do: 'progress', completed: 3 },
    {
      do: 'tool',
      name: 'Edit',
      title: 'Edit src/config/config.ts',
      kind: 'edit',
      input: {
        file_path: 'src/config/config.ts',
        old_string: typesBefore,
        new_string: "export type { Config } from './schema.ts';\n",
      },
      locations: [{ path: 'src/config/config.ts', line: 1 }],
      diffs: [
        {
          path: 'src/config/config.ts',
          oldText: typesBefore,
          newText: "export type { Config } from './schema.ts';\n",
        },
      ],
      takes: 350,
      output: 'The file src/config/config.ts has been updated.',
    },
    { do: 'progress', completed: 4 },
    run(
      'npm run check',
      'Type check and test',
      3_200,
      `
> relay@0.8.1 check
> tsc --noEmit && vitest run

 ✓ src/jobs/retry.test.ts (8 tests) 31ms
 ✓ src/server/listen.test.ts (5 tests) 120ms
 ✓ src/config/load-config.test.ts (7 tests) 16ms

 Test Files  3 passed (3)
      Tests  20 passed (20)
   Duration  2.41s
`,
    ),
    { do: 'progress', completed: 5 },
    {
      do: 'say',
      text: `The plan is done. In the recording, a config file is now checked as a whole before anything starts, and a mistake says where it is:

\`\`\`
relay.json: ✖ Unrecognized key: "retry"
✖ Invalid input: expected number, received string
  → at port
\`\`\`

The defaults are as they were. Files with keys that nobody reads are refused from now on; that is worth a line in the changelog.
`,
    },
  ],
};
