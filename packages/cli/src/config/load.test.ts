import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { type Flags, loadConfig } from './load.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'liminal-config-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const load = (flags: Flags = {}, env: NodeJS.ProcessEnv = {}) =>
  loadConfig(flags, { env, home, cwd: '/project' });

function writeFile(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

describe('without any settings', () => {
  test('by default, the server listens on this machine only, and projects must be below the home folder or the current folder', () => {
    expect(load()).toMatchObject({
      dataDir: join(home, '.liminal'),
      host: '127.0.0.1',
      port: 4747,
      portChosen: false,
      insecureHost: false,
      token: undefined,
      open: true,
      roots: [home, '/project'],
      allowedHosts: [],
      allowedOrigins: [],
      settings: {},
    });
  });

  test('an empty variable is treated as unset', () => {
    expect(load({}, { LIMINAL_PORT: '', LIMINAL_DATA_DIR: '', LIMINAL_CONFIG: '' })).toEqual(
      load(),
    );
  });
});

test('Claude Code’s additional system prompt is read from the file, unless the text there is empty', () => {
  const claude = { appendSystemPrompt: 'Use British English.' };
  expect(load({ config: writeFile('a.json', { claude }) }).claude).toEqual(claude);
  expect(load().claude).toEqual({});
  for (const wrong of [{ appendSystemPrompt: ' ' }, { apendSystemPrompt: 'x' }]) {
    const config = writeFile('b.json', { claude: wrong });
    expect(() => load({ config })).toThrow(/claude/);
  }
});

test('user commands run unless the file forbids them', () => {
  expect(load().userCommands).toBe(true);
  const file = writeFile('a.json', { userCommands: false });
  expect(load({ config: file }).userCommands).toBe(false);
});

describe('a flag overrides a variable, a variable the file, and the file the default', () => {
  test('when the port is chosen', () => {
    const file = writeFile('a.json', { port: 3 });
    expect(load({ config: file })).toMatchObject({ port: 3, portChosen: true });
    expect(load({ config: file }, { LIMINAL_PORT: '2' })).toMatchObject({
      port: 2,
      portChosen: true,
    });
    expect(load({ config: file, port: '1' }, { LIMINAL_PORT: '2' })).toMatchObject({ port: 1 });
  });

  test('when the host is chosen', () => {
    const file = writeFile('a.json', { host: 'c' });
    expect(load({ config: file }).host).toBe('c');
    expect(load({ config: file }, { LIMINAL_HOST: 'b' }).host).toBe('b');
    expect(load({ config: file, host: 'a' }, { LIMINAL_HOST: 'b' }).host).toBe('a');
  });

  test('when the data folder is chosen', () => {
    expect(load({}, { LIMINAL_DATA_DIR: 'b' }).dataDir).toBe('/project/b');
    expect(load({ data: '/a' }, { LIMINAL_DATA_DIR: 'b' }).dataDir).toBe('/a');
  });

  test('when the token is chosen', () => {
    expect(load({}, { LIMINAL_TOKEN: 'bbbbbbbb' }).token).toBe('bbbbbbbb');
    expect(load({ token: 'aaaaaaaa' }, { LIMINAL_TOKEN: 'bbbbbbbb' }).token).toBe('aaaaaaaa');
  });

  test('when Liminal decides whether to open a browser', () => {
    const file = writeFile('a.json', { open: false });
    expect(load({ config: file, open: true }).open).toBe(false);
    expect(load({ open: false }).open).toBe(false);
  });

  test('when the configuration file itself is chosen', () => {
    const one = writeFile('one.json', { port: 1 });
    const two = writeFile('two.json', { port: 2 });
    writeFile('.liminal/liminal.json', { port: 3 });
    expect(load().port).toBe(3);
    expect(load({}, { LIMINAL_CONFIG: two }).port).toBe(2);
    expect(load({ config: one }, { LIMINAL_CONFIG: two }).port).toBe(1);
  });
});

describe('the file', () => {
  test('relative roots in the file are relative to the file’s folder, and ~ is the home folder', () => {
    const file = writeFile('etc/a.json', { roots: ['work', '/srv', '~', '~/src'] });
    expect(load({ config: file }).roots).toEqual([
      join(home, 'etc/work'),
      '/srv',
      home,
      join(home, 'src'),
    ]);
  });

  test('the file configures the runtime', () => {
    const settings = {
      idleLimitMs: 0,
      approvals: { deadlineMs: 5, fallback: 'allow' },
      maxQueue: 2,
      cadenceMs: 0,
      publishUpserts: true,
      upserts: { batchGradientTokens: [5], tokenCounter: 'words', retryAttempts: 0 },
    };
    const file = writeFile('a.json', settings);
    expect(load({ config: file }).settings).toEqual(settings);
  });
});

test('SAFE: commands that models run get no variable that contains a key or headers', () => {
  const models = {
    mine: { type: 'openai', baseUrl: 'http://x/v1', model: 'm', apiKeyEnv: 'MINE' },
  };
  expect(load({ config: writeFile('a.json', { models }) }).hiddenVariables.sort()).toEqual([
    'ANTHROPIC_API_KEY',
    'LANGFUSE_SECRET_KEY',
    'MINE',
    'OPENAI_API_KEY',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    'TRACELOOP_API_KEY',
    'TRACELOOP_HEADERS',
  ]);
});

describe('agents and MCP servers', () => {
  test('agents and MCP servers are read from the file, and missing fields get their defaults', () => {
    const file = writeFile('a.json', {
      agents: { gemini: { command: 'gemini', args: ['--acp'], env: { KEY: 'x' } } },
      mcpServers: {
        files: { command: 'mcp-files' },
        web: { type: 'http', url: 'http://127.0.0.1:1/mcp' },
      },
    });
    expect(load({ config: file })).toMatchObject({
      agents: {
        gemini: { command: 'gemini', args: ['--acp'], env: { KEY: 'x' }, sharedProcess: false },
      },
      mcpServers: {
        files: { type: 'stdio', command: 'mcp-files', args: [], env: {} },
        web: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} },
      },
    });
  });

  test('an agent’s own MCP servers replace the servers for all agents; with false, the agent gets no servers', () => {
    const own = { notes: { command: 'mcp-notes', env: { KEY: '${KEY}' } } };
    const file = writeFile('a.json', {
      agents: {
        goose: { command: 'goose', mcpServers: false, openLimitMs: 90_000 },
        qwen: { command: 'qwen', mcpServers: own, files: false },
      },
      mcpServers: { files: { command: 'mcp-files' } },
    });
    const { agents } = load({ config: file }, { KEY: 'x' });
    expect(agents['goose']).toMatchObject({ mcpServers: false, openLimitMs: 90_000 });
    const notes = { type: 'stdio', command: 'mcp-notes', args: [], env: { KEY: 'x' } };
    expect(agents['qwen']).toMatchObject({ mcpServers: { notes }, files: false });
  });

  test('the settings of agents and MCP servers may contain ~ for the home folder and ${NAME} for a variable', () => {
    const program = {
      command: '~/bin/agent',
      args: ['--key=${KEY}', '~/x', 'a~/b', '$$HOME', '$HOME', '${A}${B}'],
      env: { KEY: '${KEY}', PRICE: '5$' },
    };
    const headers = { Authorization: 'Bearer ${KEY}' };
    const web = { type: 'http', url: 'http://x/${NAME}', headers };
    const file = writeFile('a.json', {
      agents: { gemini: program },
      mcpServers: { files: program, web },
    });
    const env = { KEY: 'se$$cret', NAME: 'mcp', A: '~', B: '' };

    const expanded = {
      command: join(home, 'bin/agent'),
      args: ['--key=se$$cret', join(home, 'x'), 'a~/b', '$HOME', '$HOME', '~'],
      env: { KEY: 'se$$cret', PRICE: '5$' },
    };
    const { agents, mcpServers } = load({ config: file }, env);
    expect(agents['gemini']).toMatchObject(expanded);
    expect(mcpServers['files']).toMatchObject(expanded);
    expect(mcpServers['web']).toMatchObject({
      url: 'http://x/mcp',
      headers: { Authorization: 'Bearer se$$cret' },
    });
  });

  test('~ is replaced by the home folder’s exact name, even if that contains $ or ${KEY}', () => {
    const program = { command: '~/x', args: ['~'] };
    const config = writeFile('a.json', { agents: { a: program }, roots: ['~/src'] });
    const odd = '/home/$&$$ ${KEY}';
    const { agents, roots } = loadConfig({ config }, { env: {}, home: odd, cwd: '/project' });
    expect(agents['a']).toMatchObject({ command: `${odd}/x`, args: [odd] });
    expect(roots).toEqual([`${odd}/src`]);
  });

  test.each([
    ['bin/agent', 'etc/bin/agent'],
    ['./agent', 'etc/agent'],
    ['../agent', 'agent'],
  ])('the program %s is resolved relative to the file’s folder', (command, found) => {
    const file = writeFile('etc/a.json', { agents: { a: { command }, b: { command: 'b' } } });
    const { agents } = load({ config: file });
    expect(agents['a']?.command).toBe(join(home, found));
    expect(agents['b']?.command).toBe('b');
  });

  test.each([
    [{ command: '${NOWHERE}/x' }, '"agents.a.command": the variable NOWHERE is not set'],
    [{ command: 'x', args: ['', '${NOWHERE}'] }, '"agents.a.args.1": the variable NOWHERE'],
    [{ command: 'x', env: { KEY: '${NOWHERE}' } }, '"agents.a.env.KEY": the variable NOWHERE'],
    [{ command: 'x', args: ['${A-B}'] }, '"${A-B}" is not a variable'],
    [{ command: 'x', args: ['${A'] }, '"${A" is not a variable'],
  ])(
    'a missing or invalid variable (%j) is refused, and the error contains the field',
    (entry, complaint) => {
      const file = writeFile('a.json', { agents: { a: entry } });
      expect(() => load({ config: file })).toThrow(`The configuration in ${file} is not valid. `);
      expect(() => load({ config: file })).toThrow(complaint);
    },
  );

  test.each([
    ['agents', { 'claude-code': { command: 'x' } }, 'this agent is built in'],
    ['agents', { 'My Agent': { command: 'x' } }, 'lower-case letters'],
    ['agents', { a: {} }, '"agents.a.command"'],
    ['agents', { a: { command: 'x', arg: [] } }, 'arg'],
    ['mcpServers', { a: { url: 'http://x' } }, '"mcpServers.a'],
    ['mcpServers', { a: { type: 'http', url: 'file:///x' } }, '"mcpServers.a.url"'],
    ['mcpServers', { a: { type: 'carrier-pigeon' } }, '"mcpServers.a.type"'],
  ])(
    'the settings of %s with a mistake (%j) are refused, and the error contains the field',
    (key, entry, complaint) => {
      const file = writeFile('a.json', { [key]: entry });
      expect(() => load({ config: file })).toThrow(complaint);
    },
  );
});

describe('an error says where the mistake is', () => {
  const complaint = (flags: Flags, env: NodeJS.ProcessEnv = {}): string => {
    try {
      load(flags, env);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    throw new Error('nothing was wrong');
  };

  test('an error in a flag contains the flag', () => {
    expect(complaint({ port: 'abc' })).toBe('--port must be a number.');
    expect(complaint({ port: '-1' })).toContain('--port');
    expect(complaint({ port: '70000' })).toContain('--port');
    expect(complaint({ token: 'short' })).toContain('--token must have at least 8 characters');
  });

  test('an error in a variable contains the variable’s name', () => {
    expect(complaint({}, { LIMINAL_PORT: '1.5' })).toBe('LIMINAL_PORT must be a number.');
    expect(complaint({}, { LIMINAL_TOKEN: 'with a space' })).toContain('LIMINAL_TOKEN');
  });

  test('an error in a field contains the file and the field', () => {
    const file = writeFile('a.json', {
      port: 'x',
      approvals: { deadlineMs: -1, fallback: 'allow' },
    });
    const text = complaint({ config: file });
    expect(text).toContain(file);
    expect(text).toContain('"port"');
    expect(text).toContain('"approvals.deadlineMs"');
  });

  test('an error about an unknown key contains the file and the key', () => {
    const file = writeFile('.liminal/liminal.json', { prot: 1 });
    const text = complaint({});
    expect(text).toContain(file);
    expect(text).toContain('prot');
  });

  test('an error about a file that is not JSON contains the file’s path', () => {
    const file = writeFile('a.json', '{"port": 1,}');
    expect(complaint({ config: file })).toContain(`${file} is not valid JSON`);
  });

  test('an error about a missing file contains the file’s path', () => {
    expect(complaint({ config: '/nowhere/a.json' })).toContain('/nowhere/a.json cannot be read');
  });
});

describe('servers of bare models', () => {
  const models = (entries: unknown, env: NodeJS.ProcessEnv = {}) =>
    load({ config: writeFile('models.json', { models: entries }) }, env).models;

  test('without any settings, OpenAI and Anthropic are listed together with the settings that they lack', () => {
    expect(load().models).toMatchObject([
      {
        cliType: 'openai',
        title: 'OpenAI models',
        problem: expect.stringMatching(/OPENAI_API_KEY/),
      },
      {
        cliType: 'anthropic',
        title: 'Anthropic models',
        problem: expect.stringMatching(/ANTHROPIC_API_KEY/),
      },
    ]);
  });

  test('the keys and URLs of model servers are read from variables', () => {
    const url = 'http://127.0.0.1:1';
    const env = { OPENAI_API_KEY: 'k', ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'a' };
    const [openai, anthropic] = load({}, env).models;
    expect(openai).toMatchObject({ apiKey: 'k', problem: undefined });
    expect(anthropic).toMatchObject({ baseUrl: url, apiKey: 'a', problem: undefined });
  });

  test('an entry for a local server needs only three fields, and the server does not get the provider’s key', () => {
    const local = { type: 'openai', baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' };
    const [, , own] = models({ local }, { OPENAI_API_KEY: 'k' });
    expect(own).toMatchObject({
      cliType: 'local',
      ...local,
      apiKey: undefined,
      problem: undefined,
    });
  });

  test('if the variable for a key is not set, this is reported', () => {
    const [, , own] = models({
      far: { type: 'openai', baseUrl: 'https://far.example/v1', apiKeyEnv: 'FAR_KEY' },
    });
    expect(own?.problem).toBe('Set FAR_KEY before Liminal is started.');
  });

  test('an entry named openai or anthropic sets that provider’s model and prices', () => {
    const prices = { input: 1, output: 2 };
    const [openai] = models(
      { openai: { type: 'openai', model: 'm', prices } },
      { OPENAI_API_KEY: 'k' },
    );
    expect(openai).toMatchObject({ cliType: 'openai', model: 'm', prices, apiKey: 'k' });
  });

  test.each([
    [{ openai: { type: 'anthropic' } }, /type of the same name/],
    [{ demo: { type: 'openai' } }, /agent’s name/],
    [
      { x: { type: 'openai', apiKeyEnv: 'sk-secret key' } },
      /must be the name of a variable, in capitals, not a key/,
    ],
    [{ x: { type: 'openai', apiKeyEnv: 'gsk_secret' } }, /must be the name of a variable/],
    [
      { x: { type: 'openai', apiKey: 'k' } },
      /has no field "apiKey"; .*name the variable in "apiKeyEnv"/,
    ],
    [
      { x: { type: 'openai', baseURL: 'http://a/v1' } },
      /has no field "baseURL"; the fields are: .*baseUrl/,
    ],
    [{ x: { type: 'openai', baseUrl: 'file:///etc' } }, /baseUrl/],
    [{ x: { type: 'openai', baseUrl: 'a:1/v1' } }, /a complete URL, for example "http:/],
    [{ x: { type: 'other' } }, /type/],
    [
      { x: { type: 'openai', api: 'chat', webSearch: true } },
      /"models.x.webSearch": only the Responses API searches the web: remove "webSearch", or "api": "chat"/,
    ],
  ])('%j is refused', (entries, problem) => {
    expect(() => models(entries)).toThrow(problem);
  });

  test.each([
    ['k\n', 'k', undefined],
    ['…', '…', 'OPENAI_API_KEY has characters that a key cannot have: set it to the key itself.'],
    [
      'a b',
      'a b',
      'OPENAI_API_KEY has characters that a key cannot have: set it to the key itself.',
    ],
    [' ', '', 'Set OPENAI_API_KEY before Liminal is started.'],
  ])('the key %j is valid, or its problem is reported', (key, apiKey, problem) => {
    expect(models({}, { OPENAI_API_KEY: key })[0]).toMatchObject({ apiKey, problem });
  });

  test('a variable with an incomplete URL is reported', () => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: '127.0.0.1:1/v1' };
    expect(models({}, env)[0]?.problem).toMatch(
      /^OPENAI_BASE_URL must be a complete URL, for example/,
    );
  });

  test('an agent and a model server cannot have the same name', () => {
    const both = { agents: { a: { command: 'a' } }, models: { a: { type: 'openai' } } };
    expect(() => load({ config: writeFile('both.json', both) })).toThrow(
      /both in "agents" and in "models"/,
    );
  });
});
