/** `liminal verify` reports each fault in a sentence, and removes everything that it created. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  answer,
  freePort,
  functionCall,
  gate,
  held,
  httpError,
  message,
  type ModelReply,
  pause,
} from '@liminal/testkit';
import { partOf, testAtLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { clientOf, Home, type Outcome } from './command.ts';
import { copyRuns, type Front, putBefore } from './verify-faults.ts';
import {
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

/**
 * Returns the failures that the check printed. Asserts that the check failed and that it removed everything that it
 * created.
 */
function failures({ exitCode, stdout, stderr }: Outcome, agent = 'local'): string[] {
  // The log of a server that was started only for the check.
  const complaints = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect({ exitCode, complaints }).toEqual({ exitCode: 1, complaints: [] });
  const lines = stdout.trimEnd().split('\n');
  const failed = lines.filter((line) => line.startsWith('FAIL  ')).map((line) => line.slice(6));
  const count = failed.length === 1 ? '1 check' : `${failed.length} checks`;
  expect(lines.at(-1)).toBe(`Not everything works with ${agent}: ${count} failed.`);
  expect(foldersLeft(home)).toEqual([]);
  return failed;
}

async function outcomeOf(command: ReturnType<Home['start']>): Promise<Outcome> {
  const exitCode = await command.exitCode;
  return { exitCode, stdout: command.stdout, stderr: command.stderr };
}

/** Runs the check with a model that answers with `reply`, without a running server. */
async function withModel(reply: ModelReply, ...args: string[]) {
  configure(home, { models: (await localModel(() => reply)).models });
  return failures(await home.play('verify', '--agent', 'local', ...args));
}

test('a wrong command line is refused with the valid values, before the check creates anything', async () => {
  const types = 'claude-code, codex, openai, anthropic, demo';
  const wrong = [
    [[], `Name the agent with --agent. The agents are: ${types}.`],
    [['--agent', 'gemini'], `There is no agent “gemini”. The agents are: ${types}.`],
    [['--agent', 'demo', '--timeout', '1m'], '--timeout needs a number of seconds, not "1m".'],
    [['--agent', 'demo', '--prompt', ' '], '--prompt must not be empty.'],
    [['--agent', 'demo', '--set', 'pace'], '--set needs an option and its value'],
    [['--agent', 'demo', '--find-trace', 'jaeger'], '--find-trace needs an address'],
  ] as const;
  for (const [args, why] of wrong) {
    const { exitCode, stdout, stderr } = await home.play('verify', ...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${RegExp.escape(why)}.*\n$`));
  }
});

/** Faults of agents, each with the failure that the check must report. */
const ofAgents: Record<string, { play: () => Promise<string[]>; expected: RegExp }> = {
  'a missing variable of the key': {
    play: async () => failures(await home.play('verify', '--agent', 'openai'), 'openai'),
    expected:
      /^Agent openai: OpenAI models is not set up\. Set OPENAI_API_KEY before Liminal is started\.$/,
  },
  'a destination of traces with missing variables': {
    play: async () => {
      const command = home.start(['verify', '--agent', 'demo'], { LANGFUSE_PUBLIC_KEY: 'pk' });
      return failures(await outcomeOf(command), 'demo');
    },
    expected: /^LANGFUSE_SECRET_KEY and LANGFUSE_HOST are not set: nothing is sent to Langfuse/,
  },
  'a program that is not installed': {
    play: async () => {
      configure(home, { agents: { gone: { command: 'no-such-agent' } } });
      return failures(await home.play('verify', '--agent', 'gone'), 'gone');
    },
    expected: /^Agent gone: gone is not set up\. .*no-such-agent.*\.$/,
  },
  'an unreachable model’s server': {
    play: async () => {
      const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
      configure(home, { models: { local: { type: 'openai', baseUrl } } });
      return failures(await home.play('verify', '--agent', 'local'));
    },
    expected: /at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Check that it runs/,
  },
  'a model’s server that is unreachable for longer than the check takes': {
    play: async () => {
      const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
      configure(home, { models: { local: { type: 'openai', baseUrl, model: 'm' } } });
      return failures(await home.play('verify', '--agent', 'local', '--timeout', '6'));
    },
    expected:
      /^The run did not end within 6 s \(.*The agent waits: .* at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Check that it runs/,
  },
  'a model that answers with an error': {
    play: async () => withModel(httpError(400, 'There is no model m.')),
    expected: /^The turn failed \([A-Z_]+\): .*There is no model m\./,
  },
  'an answer that does not stream': {
    play: async () => withModel(answer(message([pause(500), answerText]))),
    expected:
      /^The answer came whole, in one item_delta, instead of streaming: the model’s server, or a proxy in front of it, buffers the text\.$/,
  },
  'a model that never answers': {
    play: async () => {
      const never = gate();
      onTestFinished(() => never.open());
      return withModel(held(never, streamed), '--timeout', '1.5');
    },
    expected:
      /^The run did not end within 1\.5 s \((?:\d+|no) events read by GET \/api\/run\/.+\/events\)\. Check the agent\. Use --timeout to wait longer\.$/,
  },
  'a model that uses a tool': {
    play: async () => withModel(answer(functionCall('bash', { command: 'touch made' }))),
    expected:
      /^The agent asked for a permission, which a check cannot give: “touch made”\. Choose a --prompt that needs no tools\.$/,
  },
  'roots in which no folder can be made': {
    play: async () => {
      configure(home, { roots: ['/proc'] });
      return failures(await home.play('verify', '--agent', 'demo'), 'demo');
    },
    expected:
      /^No project folder can be made below the allowed roots \(\/proc\): .*\. Make one of them writable, or name another in "roots"\.$/,
  },
};

const played = [
  'a destination of traces with missing variables',
  'a model’s server that is unreachable for longer than the check takes',
  'a model that uses a tool',
] as const;
test.for(partOf(ofAgents, played))('FR-001-33: %s is reported', async ([, { play, expected }]) => {
  expect(await play()).toEqual([expect.stringMatching(expected)]);
});

const instant = ['--agent', 'demo', '--set', 'pace=instant'];

testAtLength('an unreachable Redis and database are reported, without their secrets', async () => {
  const port = await freePort();
  configure(home, {
    redisUrl: `redis://:hidden@127.0.0.1:${port}`,
    databaseUrl: `postgresql://u:hidden@127.0.0.1:${port}/x`,
  });
  const failed = failures(await home.play('verify', '--agent', 'demo'), 'demo');
  expect(failed).toEqual([
    expect.stringMatching(/^Redis failed .*Check that Redis runs and can be reached/),
    expect.stringMatching(/^The database 127\.0\.0\.1.* nothing listens there; start it/),
  ]);
  expect(failed.join()).not.toContain('hidden');
});

/** Starts a server on shared storage, and runs a check that reads streams under another prefix than the server's. */
async function besideServer() {
  const { redis, config } = await sharedStorage();
  const server = await home.serve(['--config', configure(home, config, 'server.json')]);
  const other = `${config.redisPrefix}-other`;
  const file = configure(home, { ...config, redisPrefix: other }, 'other.json');
  const play = async () =>
    failures(await home.play('verify', ...instant, '--config', file), 'demo');
  return { server, redis, prefixes: [config.redisPrefix, other] as [string, string], config, play };
}

testAtLength('if the server writes to another Redis, the check reports this', async () => {
  const { play } = await besideServer();
  expect(await play()).toEqual([
    expect.stringMatching(
      /^The server says that the run has ended, but its end was not received \(no events read by XREAD of .+-other:run:.+:events\)\. Check that the server has the same LIMINAL_REDIS_URL and redisPrefix as this command\.$/,
    ),
  ]);
});

const inRedis: Record<string, [plant: Parameters<typeof copyRuns>[2], told: string[]]> = {
  'an entry without its trace context': [
    ({ traceContext, ...rest }) =>
      rest['seq'] === '3' ? rest : { ...rest, traceContext: traceContext! },
    ['Entry 0-4 has no “traceContext”.'],
  ],
  'an entry that is missing': [
    (fields) => (fields['seq'] === '3' ? undefined : fields),
    ['There is a gap before Entry 0-5: seq 3 is missing.'],
  ],
  'an end that is missing': [
    (fields) => (fields['type'] === 'response_done' ? undefined : fields),
    [
      'The server says that the run has ended, but its end was not received (N events read by XREAD of KEY). Check that the server has the same LIMINAL_REDIS_URL and redisPrefix as this command.',
    ],
  ],
};

for (const [name, [plant, told]] of Object.entries(inRedis)) {
  testAtLength(`FR-001-36: if ${name} is planted in Redis, the check reports it`, async () => {
    const { prefixes, config, play } = await besideServer();
    copyRuns(config.redisUrl, prefixes, plant);
    const failed = (await play()).map((line) =>
      line.replace(/\(\d+ events/, '(N events').replace(/XREAD of \S+:events/, 'XREAD of KEY'),
    );
    expect(failed.slice(0, told.length)).toEqual(told);
  });
}

testAtLength('if no projector stores the run, the check reports this', async () => {
  const { config } = await sharedStorage();
  configure(home, { ...config, projector: false });
  expect(failures(await home.play('verify', ...instant, '--timeout', '10'), 'demo')).toEqual([
    'History did not get the run within 10 s. Check that a projector runs (./liminal projector, or a server without "projector": false), and that it reaches the database.',
  ]);
});

const between: Record<string, { front: Front; expected: RegExp }> = {
  'a proxy that drops traceparent': {
    front: { onRequest: (headers) => delete headers['traceparent'] },
    expected:
      /^Event 0 belongs to trace [0-9a-f]{32}, not to that of the request\. A proxy in front of the server must forward traceparent\. The same is true of \d+ more\.$/,
  },
  'history that differs from the events': {
    front: {
      onAnswer: {
        path: /^\/api\/run\/[^/]+$/,
        change: (body) => body.replace('"status":"complete"', '"status":"aborted"'),
      },
    },
    expected:
      /^History does not match the run’s events: “status” differs\. This is a bug in Liminal: please report it\.$/,
  },
  'a session that cannot be deleted': {
    front: {
      refuses: ({ method }) =>
        method === 'DELETE'
          ? { error: { code: 'STORE_WRITE_FAILED', message: 'The disk is full.' } }
          : undefined,
    },
    expected:
      /^Session (\S+) could not be deleted: The disk is full\. Once this is fixed, run: \.\/liminal delete \1 --yes$/,
  },
};

for (const [name, { front, expected }] of Object.entries(between)) {
  testAtLength(`the check reports ${name}`, async () => {
    configure(home, { models: (await localModel(() => streamed)).models });
    await putBefore(await home.serve(), home, front);
    expect(failures(await home.play('verify', '--agent', 'local'))).toEqual([
      expect.stringMatching(expected),
    ]);
  });
}

testAtLength(
  'if the trace does not arrive, the check reports this; if the trace arrives, the check passes',
  async () => {
    configure(home, { models: (await localModel(() => streamed)).models });
    let status = 404;
    const asked: (string | undefined)[] = [];
    const langfuse = createServer(({ url }, reply) => {
      asked.push(url);
      reply.writeHead(status).end('{}');
    });
    langfuse.listen(0, '127.0.0.1');
    await once(langfuse, 'listening');
    onTestFinished(() => void langfuse.close());
    const host = `http://127.0.0.1:${(langfuse.address() as AddressInfo).port}`;
    const env = {
      LANGFUSE_HOST: host,
      LANGFUSE_PUBLIC_KEY: 'pk',
      LANGFUSE_SECRET_KEY: 'sk-hidden',
    };
    const play = async (): Promise<Outcome> => {
      return outcomeOf(home.start(['verify', '--agent', 'local', '--timeout', '15'], env));
    };
    const missing = await play();
    const [, traceId] = /^trace_id: (.+)$/m.exec(missing.stdout) ?? [];
    expect(failures(missing)).toEqual([
      `Langfuse at ${host} had no trace ${traceId} after 15 s. Check that the server sends its traces there.`,
    ]);
    // The server also sends spans to this host. Leave out these requests.
    const ofCheck = asked.filter((path) => path !== '/api/public/otel/v1/traces');
    expect(new Set(ofCheck)).toEqual(new Set([`/api/public/traces/${traceId}`]));
    expect(missing.stdout).not.toContain('hidden');
    status = 200;
    expect((await play()).stdout).toContain(`ok    Langfuse at ${host} has the trace\n`);
  },
);

testAtLength(
  'FR-001-37: Ctrl-C ends the check, and the check removes everything that it created',
  async () => {
    const server = await home.serve();
    const command = home.start(['verify', '--agent', 'demo', '--prompt', 'slow']);
    await command.untilOutput(/^trace_id: /m);
    command.signal('SIGINT');
    const outcome = { exitCode: await command.exitCode, stdout: command.stdout, stderr: '' };
    expect(failures(outcome, 'demo')).toEqual(['The check was stopped.']);
    expect(command.stdout).toContain('Deleted the session, its run, and its folder');
    const client = clientOf(server);
    expect(await client.requests.listProjects()).toEqual([]);
    client.close();
  },
);
