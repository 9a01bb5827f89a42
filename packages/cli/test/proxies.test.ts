/**
 * All requests to other machines must use the environment's proxy. Only the proxy can resolve the host names of these
 * tests.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import {
  answer,
  chat,
  freePort,
  reply,
  startChatCompletionsApi,
  startMessagesApi,
  startProxy,
  startResponsesApi,
  text,
} from '@liminal/testkit';
import { OtlpReceiver } from '@liminal/testkit/otlp-receiver';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually, Home } from './command.ts';

const ends: (() => Promise<unknown>)[] = [];
let home: Home;

beforeEach(() => {
  home = new Home();
  mkdirSync(home.data);
  ends.push(() => home.close());
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function ending<T extends { close: () => Promise<unknown> }>(started: T): T {
  ends.push(() => started.close());
  return started;
}

const configure = (config: object): void =>
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(config));

const portOf = (url: string): number => Number(new URL(url).port);

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** Handles the requests to an MCP server that has one tool, `ping`. */
const pinging: RequestListener = (request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  void json(request).then((body) => {
    const { id, method } = body as { id?: number; method: string };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'ping', version: '1' },
      },
      'tools/list': { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'pong' }] },
    };
    if (id === undefined) return response.writeHead(202).end();
    const said = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} });
    return response.writeHead(200, { 'content-type': 'application/json' }).end(said);
  });
};

const names = ['models', 'tools', 'pages', 'spans', 'langfuse', 'traceloop'];

/** Creates a certificate for all names, issued by an unknown authority. */
function certificate() {
  const [cert, key] = [join(home.folder, 'certificate.pem'), join(home.folder, 'key.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const alternative = names.map((name) => `DNS:${name}.example`).join(',');
  const subject = ['-subj', '/CN=example', '-addext', `subjectAltName=${alternative}`];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...kind, ...subject, ...files], {
    stdio: 'ignore',
  });
  return { file: cert, key: readFileSync(key), cert: readFileSync(cert) };
}

/** Starts a TLS server in front of a server, and returns its port. */
async function behindTls(port: number, tls: { key: Buffer; cert: Buffer }): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTlsServer(tls, (socket) => {
    const onward = connect(port, '127.0.0.1');
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

const variablesOf = {
  http: (proxy: string) => ({ http_proxy: proxy }),
  https: (proxy: string) => ({ HTTPS_PROXY: proxy }),
};

test.each(['http', 'https'] as const)(
  'models, MCP servers, pages and receivers of spans at %s URLs are reached through the proxy',
  async (scheme) => {
    const api = ending(
      await startChatCompletionsApi({
        script: [
          chat.answer([
            chat.call('mcp__tools__ping', '{}'),
            chat.call('fetch', { url: `${scheme}://pages.example/a` }),
          ]),
          chat.answer('Done.'),
        ],
      }),
    );
    const receiver = ending(await OtlpReceiver.start());
    const plain: Record<string, number> = {
      models: portOf(api.url),
      tools: await serve(pinging),
      pages: await serve((_, response) =>
        response.writeHead(200, { 'content-type': 'text/plain' }).end('A page.'),
      ),
      spans: portOf(receiver.url),
      langfuse: portOf(receiver.url),
      traceloop: portOf(receiver.url),
    };
    const tls = scheme === 'https' ? certificate() : undefined;
    const ports: Record<string, number> = {};
    for (const name of names) {
      const port = plain[name] ?? 0;
      ports[`${name}.example`] = tls === undefined ? port : await behindTls(port, tls);
    }
    const proxy = ending(await startProxy(ports));
    configure({
      models: {
        far: { type: 'openai', api: 'chat', baseUrl: `${scheme}://models.example/v1`, model: 'm' },
      },
      mcpServers: { tools: { type: 'http', url: `${scheme}://tools.example/mcp`, headers: {} } },
      tools: { fetch: true },
    });
    const login = proxy.url.replace('://', '://me:secret@');
    const server = await home.serve([], {
      ...variablesOf[scheme](login),
      ...(tls && { NODE_EXTRA_CA_CERTS: tls.file }),
      OTEL_EXPORTER_OTLP_ENDPOINT: `${scheme}://spans.example/otlp`,
      LANGFUSE_HOST: `${scheme}://langfuse.example/langfuse`,
      LANGFUSE_PUBLIC_KEY: 'pk-1',
      LANGFUSE_SECRET_KEY: 'sk-1',
      TRACELOOP_BASE_URL: `${scheme}://traceloop.example/traceloop`,
      TRACELOOP_API_KEY: 'tl-1',
    });
    const command = home.start(['run', 'hi', '--agent', 'far', '--set', 'mode=all']);
    expect(await command.exitCode).toBe(0);
    await server.command.end('SIGTERM');

    expect(command.stdout).toContain('Done.');
    const told = JSON.stringify(api.requests.at(-1)?.body);
    expect(told).toContain('pong');
    expect(told).toContain('A page.');
    for (const [path, key] of [
      ['/otlp/v1/traces', undefined],
      ['/langfuse/api/public/otel/v1/traces', `Basic ${btoa('pk-1:sk-1')}`],
      ['/traceloop/v1/traces', 'Bearer tl-1'],
    ] as const) {
      const { spans, headers } = receiver.at(path);
      expect(spans.length).toBeGreaterThan(0);
      expect(headers[0]?.authorization).toBe(key);
    }
    const asked = new Set(proxy.asked.map((one) => /(\w+)\.example/.exec(one)?.[1]));
    expect(asked).toEqual(new Set(names));
    const way = scheme === 'https' ? /^CONNECT \w+\.example:443$/ : /^\w+ http:\/\/\w+\.example\//;
    for (const one of proxy.asked) expect(one).toMatch(way);
    expect(new Set(proxy.logins)).toEqual(new Set([`Basic ${btoa('me:secret')}`]));
  },
);

test('every API of models is reached through the proxy', async () => {
  const [completions, responses, messages] = await Promise.all([
    startChatCompletionsApi({ script: [chat.answer('Completed.')] }),
    startResponsesApi({ script: [answer('Responded.')] }),
    startMessagesApi({ script: [reply(text('Messaged.'))] }),
  ]);
  for (const api of [completions, responses, messages]) ending(api);
  const proxy = ending(
    await startProxy({
      'completions.example': portOf(completions.url),
      'responses.example': portOf(responses.url),
      'messages.example': portOf(messages.url),
    }),
  );
  const openai = { type: 'openai', model: 'm' };
  configure({
    models: {
      completions: { ...openai, api: 'chat', baseUrl: 'http://completions.example/v1' },
      responses: { ...openai, api: 'responses', baseUrl: 'http://responses.example/v1' },
      messages: { type: 'anthropic', model: 'm', baseUrl: 'http://messages.example' },
    },
  });
  for (const [agent, said] of [
    ['completions', 'Completed.'],
    ['responses', 'Responded.'],
    ['messages', 'Messaged.'],
  ] as const) {
    const command = home.start(['run', 'hi', '--agent', agent], { ALL_PROXY: proxy.url });
    expect(await command.exitCode).toBe(0);
    expect(command.stdout).toBe(`${said}\n`);
  }
});

test('a Convex deployment and the receiver of `trace --send` are reached through the proxy', async () => {
  const receiver = ending(await OtlpReceiver.start());
  const deployment = await serve((_, response) => {
    response.end(JSON.stringify({ status: 'success', value: 7, logLines: [] }));
  });
  const proxy = ending(
    await startProxy({ 'history.example': deployment, 'spans.example': portOf(receiver.url) }),
  );
  const env = { HTTP_PROXY: proxy.url };
  const doctor = home.start(['doctor', '--port', '0'], {
    ...env,
    LIMINAL_REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    LIMINAL_DATABASE_URL: 'http://history.example',
    LIMINAL_DATABASE_SECRET: 'a-secret',
  });
  await doctor.exitCode;
  expect(doctor.stdout).toContain('Convex deployment, which the servers share');

  await home.serve([], env);
  const run = home.start(['run', 'hi', '--agent', 'demo', '--set', 'pace=instant'], env);
  expect(await run.exitCode).toBe(0);
  const [, sessionId = ''] = /^Session (\S+)$/m.exec(run.stderr) ?? [];
  const trace = home.start(['trace', sessionId, '--send'], {
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://spans.example/otlp',
  });
  expect(await trace.exitCode).toBe(0);
  await home.endServer();

  expect(receiver.at('/otlp/v1/traces').spans.length).toBeGreaterThan(0);
  expect(new Set(proxy.asked)).toEqual(
    new Set(['POST http://history.example/api/query', 'POST http://spans.example/otlp/v1/traces']),
  );
});

test('doctor shows how each configured URL is reached, without the proxy’s password', async () => {
  const port = await freePort();
  const api = ending(await startChatCompletionsApi({ script: [], models: ['a'] }));
  configure({
    models: {
      far: { type: 'openai', baseUrl: 'http://models.example/v1', model: 'm' },
      near: { type: 'openai', baseUrl: api.url },
      excepted: { type: 'openai', baseUrl: 'http://10.9.9.9:1/v1', model: 'm' },
    },
    mcpServers: {
      tools: { type: 'http', url: 'https://tools.example/mcp?key=hidden', headers: {} },
    },
  });
  const command = home.start(['doctor', '--port', '0'], {
    HTTP_PROXY: `http://me:secret@127.0.0.1:${port}`,
    HTTPS_PROXY: 'socks5://me:secret@proxy.example',
    NO_PROXY: '10.9.9.0/24',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://spans.example',
  });
  expect(await command.exitCode).toBe(0);
  const proxy = `http://***@127.0.0.1:${port} of HTTP_PROXY`;
  const lines = command.stdout
    .split('\n')
    .filter((line) => / is reached | cannot be reached/.test(line));
  expect(lines).toEqual([
    `ok    far (http://models.example) is reached through the proxy ${proxy}`,
    `ok    near (${new URL(api.url).origin}) is reached directly: it is this machine`,
    'ok    excepted (http://10.9.9.9:1) is reached directly: NO_PROXY names it',
    expect.stringMatching(
      /^note {2}MCP server tools \(https:\/\/tools\.example\) cannot be reached\. HTTPS_PROXY must be .*SOCKS/,
    ),
    `ok    OTLP (http://spans.example) is reached through the proxy ${proxy}`,
  ]);
  expect(command.stdout).toContain(
    `could not be reached at http://models.example through the proxy ${proxy} (ECONNREFUSED)`,
  );
  expect(command.stdout + command.stderr).not.toContain('secret');
});

test.each([
  ['that is down', undefined, /ECONNREFUSED/],
  ['that requires another password', 407, /the proxy requires another user name and password/],
])('every error caused by a proxy %s contains the proxy’s address', async (_, refusal, reason) => {
  const url =
    refusal === undefined
      ? `http://127.0.0.1:${await freePort()}`
      : ending(await startProxy({}, refusal)).url;
  const env = {
    HTTPS_PROXY: url.replace('://', '://me:secret@'),
    NODE_TLS_REJECT_UNAUTHORIZED: '1',
  };
  const through = `through the proxy ${url.replace('://', '://***@')} of HTTPS_PROXY`;
  const near = ending(
    await startChatCompletionsApi({
      script: [
        chat.answer(chat.call('fetch', { url: 'https://pages.example/' })),
        chat.answer('Done.'),
      ],
    }),
  );
  configure({
    models: {
      near: { type: 'openai', api: 'chat', baseUrl: near.url, model: 'm' },
      openai: { type: 'openai', baseUrl: 'https://models.example/v1' },
      anthropic: { type: 'anthropic', baseUrl: 'https://models.example' },
    },
    mcpServers: { tools: { type: 'http', url: 'https://tools.example/mcp', headers: {} } },
    tools: { fetch: true },
    logLevel: 'warn',
  });
  const server = await home.serve([], {
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://spans.example',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
  });
  const command = home.start(['run', 'hi', '--agent', 'near', '--set', 'mode=all']);
  expect(await command.exitCode).toBe(0);
  const told = JSON.stringify(near.requests.at(-1)?.body);
  expect(told).toContain(`pages.example could not be reached ${through}: `);
  expect(told).toMatch(reason);
  for (const agent of ['openai', 'anthropic']) {
    const failing = home.start(['run', 'hi', '--agent', agent]);
    expect(await failing.exitCode).toBe(1);
    expect(failing.stderr).toContain(through);
    expect(failing.stderr).toMatch(reason);
    expect(failing.stderr).not.toContain('secret');
  }
  await eventually(() => server.command.stderr).toContain(`Spans are sent ${through}: `);
  const logged = server.command.stdout + server.command.stderr;
  expect(logged).not.toContain('secret');
  const sent = home.start(['doctor'], env);
  await sent.exitCode;
  expect(sent.stdout).toContain(through);
});
