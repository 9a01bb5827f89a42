/** The whole check of `liminal verify` with each kind of agent, and the data that remains after the check. */
import { StreamEvent } from '@liminal/protocol';
import { testAtLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { clientOf, type Command, Home } from './command.ts';
import {
  allAgents,
  configure,
  foldersLeft,
  localModel,
  answerText,
  sharedStorage,
  streamed,
} from './verify-stage.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

/** Returns the lines of the command's output. */
const linesOf = (command: Command): string[] => command.stdout.trimEnd().split('\n');

async function passes(command: Command, agent: string): Promise<string[]> {
  expect({ exitCode: await command.exitCode, stderr: command.stderr }).toEqual({
    exitCode: 0,
    stderr: '',
  });
  const lines = linesOf(command);
  expect(lines.filter((line) => !/^(ok {4}|note {2}|trace_id: [0-9a-f]{32}$)/.test(line))).toEqual([
    `All checks passed with ${agent}.`,
  ]);
  expect(foldersLeft(home)).toEqual([]);
  return lines;
}

const kinds =
  /events without a gap: response_start, .*item_start, .*item_done, .*\d item_delta, .*response_done$/;

test('FR-001-33 FR-001-34 FR-001-35 FR-001-36 FR-001-37: on Redis and a database, an agent is checked by XREAD, and nothing is left behind', async () => {
  const { redis, config, left } = await sharedStorage();
  configure(home, config);
  const command = home.start(['verify', '--agent', 'demo', '--set', 'pace=instant', '--json']);
  expect(await command.exitCode).toBe(0);
  const lines = linesOf(command).map((line) => Line.parse(JSON.parse(line)));
  const texts = lines.flatMap((line) => (line.type === 'finding' ? line.text : []));
  expect(texts).toContainEqual(
    expect.stringMatching(/^PostgreSQL [\d.]+, which the servers share$/),
  );
  const read = new RegExp(
    `^XREAD of ${config.redisPrefix}:run:(.+):events gives \\d+ ${kinds.source}`,
  );
  const [, runId] = texts.flatMap((one) => read.exec(one) ?? []);
  const traceIds = lines.flatMap((line) => (line.type === 'trace' ? line.traceId : []));
  expect(traceIds).toHaveLength(1);
  const events = lines.flatMap((line) =>
    line.type === 'event' ? StreamEvent.parse(line.event) : [],
  );
  expect(events.map(({ seq }) => seq)).toEqual([...events.keys()]);
  for (const event of events) {
    expect(event).toMatchObject({ runId });
    expect(event.traceContext.traceparent).toContain(traceIds[0]);
  }
  expect(lines.at(-1)).toEqual({ type: 'result', agent: 'demo', passed: true });

  const { keys, rows } = await left(new RegExp(`${runId}|${events[0]?.sessionId}|quantum`));
  // Servers announce runs and sessions to each other under these keys, which Redis keeps for a limited time.
  expect(keys.filter((key) => !/:(board|lease):/.test(key))).toEqual([]);
  expect(await Promise.all(keys.map((key) => redis.pttl(key)))).not.toContain(-1);
  // The row that remains prevents a deleted session from being created again.
  expect(rows.map((row) => row.slice(0, 20))).toEqual([
    expect.stringContaining('deleted_sessions'),
  ]);
  expect(foldersLeft(home)).toEqual([]);
});

const Line = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('finding'),
    verdict: z.enum(['ok', 'note', 'fail']),
    text: z.string(),
  }),
  z.object({ type: z.literal('trace'), traceId: z.string().regex(/^[0-9a-f]{32}$/) }),
  z.object({ type: z.literal('event'), event: z.unknown() }),
  z.object({ type: z.literal('result'), agent: z.string(), passed: z.boolean() }),
]);

test('FR-001-34: if a server runs, that server is checked, and its event stream is read', async () => {
  const { models, api } = await localModel([streamed]);
  configure(home, { models });
  const server = await home.serve();
  const command = home.start(['verify', '--agent', 'local', '--prompt', 'Why is that so?']);
  const lines = await passes(command, 'local');
  expect(lines).toContain(`ok    A server runs at ${server.url}`);
  expect(lines).toContainEqual(
    expect.stringMatching(/^ok {4}The agent answered within \d+\.\d s: “Very small/),
  );
  expect(lines).toContainEqual(
    expect.stringMatching(/^ok {4}GET \/api\/run\/.+\/events gives \d+ events/),
  );
  expect(lines).toContainEqual(expect.stringMatching(kinds));
  expect(lines).toContain('ok    Deleted the session, its run, and its folder');
  expect(JSON.stringify(api.requests.at(-1)?.body.input)).toContain('Why is that so?');
  // The check must not miss an event even if an agent answers at once.
  await passes(home.start(['verify', '--agent', 'demo', '--set', 'pace=instant']), 'demo');
  const client = clientOf(server);
  expect(await client.requests.listProjects()).toEqual([]);
  client.close();
});

const agents = ['demo', 'local', 'claude-code', 'codex'];
const places = { embedded: async () => ({}), shared: async () => (await sharedStorage()).config };
const matrix = Object.fromEntries(
  Object.entries(places).flatMap(([place, storage]) =>
    agents.map((agent) => [`${agent}, ${place}`, { agent, storage }]),
  ),
);

testAtLength.each(Object.entries(matrix))(
  'FR-001-34: all checks pass with %s',
  async (_, { agent, storage }) => {
    const { models, env } = await allAgents(home);
    configure(home, { models, ...(await storage()) });
    const lines = await passes(home.start(['verify', '--agent', agent], env), agent);
    expect(lines).toContainEqual(expect.stringMatching(kinds));
    if (agent !== 'demo') expect(lines.join('\n')).toContain(answerText.slice(0, 20));
  },
);
