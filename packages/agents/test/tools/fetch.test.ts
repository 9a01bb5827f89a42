import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startProxy } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fetchTool } from '../../src/own/tools/fetch.ts';
import type { RequestOptions } from '../../src/own/tools/fetch/request.ts';
import { builtInTools } from '../../src/own/tools/index.ts';
import { call, refusal } from './project.ts';

const nowhere = { dir: '/' };

/** A server on the loopback interface, and options with which its address counts as public. */
async function serve(listener: RequestListener, address = '127.0.0.1') {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    listener(request, response);
  });
  server.listen(0, address);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const options: RequestOptions = {
    lookup: async () => ['127.0.0.1'],
    mayReach: (one) => one === '127.0.0.1',
  };
  const get = async (url: string, more: RequestOptions = {}, signal?: AbortSignal) =>
    call(
      fetchTool({ ...options, ...more }),
      nowhere,
      { url: url.replace('PORT', String(port)) },
      signal && { signal },
    );
  return { get, asked, port };
}

test('a page is returned as text, and requested with its host name', async () => {
  const { get, asked, port } = await serve((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<title>Page</title><p>One <b>two</b> &amp; ä');
  });
  expect(await get('http://example.test:PORT/a?b#c')).toEqual({
    output: 'Page\n\nOne two & ä',
    success: true,
  });
  expect(asked).toEqual([`example.test:${port} /a?b`]);
});

test.each(['', 'x'])(
  'a long page is never cut in the middle of a character: %j',
  async (before) => {
    const { get } = await serve((request, response) => {
      const isPage = request.url === '/page';
      response.setHeader('content-type', isPage ? 'text/html; charset=utf-8' : 'text/plain');
      const text = before + '😀'.repeat(100_000);
      response.end(isPage ? `<title>${text}</title><p>${text}` : text);
    });
    for (const path of ['page', 'text']) {
      const { output } = await get(`http://example.test:PORT/${path}`);
      expect(output.length).toBeGreaterThan(50_000);
      expect(output.isWellFormed()).toBe(true);
    }
  },
);

test.each([
  'http://10.0.0.1/',
  'http://169.254.169.254/latest',
  'http://[fd00::1]/',
  'http://0x7f.1/',
  'http://localhost/',
  'http://localhost./',
  'http://inside.test/',
  'http://router/',
  'http://vault.internal/',
  'http://printer.local./',
])('SAFE: %s is also rejected with a proxy, and the proxy gets no request', async (url) => {
  const proxy = await startProxy({});
  onTestFinished(() => proxy.close());
  vi.stubEnv('http_proxy', proxy.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  // Only the proxy can resolve this name.
  const lookup = async (host: string) => {
    if (host === 'localhost' || host === 'localhost.') return ['127.0.0.1'];
    if (host === 'inside.test') return ['192.168.1.1'];
    throw new Error('ENOTFOUND');
  };
  const tool = fetchTool({ lookup });
  expect(await refusal(call(tool, nowhere, { url }))).toContain('only the public internet');
  expect(proxy.asked).toEqual([]);
});

test('text that is not HTML is returned unchanged, after unpacking and decoding by its character set', async () => {
  const { get } = await serve((request, response) => {
    if (request.url === '/json') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync('{"a": "<p>"}'));
    } else {
      response.writeHead(404, { 'content-type': 'text/plain; charset=iso-8859-1' });
      response.end(Buffer.from('f\xfcr', 'latin1'));
    }
  });
  expect(await get('http://a.test:PORT/json')).toEqual({ output: '{"a": "<p>"}', success: true });
  expect(await get('http://a.test:PORT/x')).toEqual({
    output: '(status 404)\nfür',
    success: false,
  });
});

test('content that is not text is rejected', async () => {
  const { get } = await serve((request, response) => {
    response.setHeader('content-type', request.url === '/png' ? 'image/png' : 'text/plain');
    response.end(Buffer.from([1, 0, 2]));
  });
  expect(await refusal(get('http://a.test:PORT/png'))).toContain(
    'is not text (image/png, 3 bytes)',
  );
  expect(await refusal(get('http://a.test:PORT/text'))).toContain('is not text');
});

test('long text is cut, also if it is compressed or endless', async () => {
  const { get } = await serve((request, response) => {
    response.setHeader('content-type', 'text/plain');
    if (request.url === '/bomb') {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(Buffer.alloc(100 * 1024 * 1024, 'x')));
    } else {
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(64 * 1024), more);
      };
      more();
    }
  });
  for (const path of ['bomb', 'endless']) {
    const { output } = await get(`http://a.test:PORT/${path}`);
    expect(output).toBe(`${'x'.repeat(100_000)}\n(The rest is left out.)`);
  }
});

test('a small compressed page of white space, with a long content type, is returned quickly', async () => {
  const { get } = await serve((_request, response) => {
    const type = `text/html${';'.repeat(12_000)}charset=utf-8`;
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
    response.end(gzipSync(`<title>Page</title><pre>ä${' '.repeat(1_000_000)}x`));
  });
  const { output } = await get('http://a.test:PORT/');
  expect(output).toMatch(/^Page\n\nä *\n\(The rest is left out\.\)$/);
});

test.each([
  'http://127.0.0.1/',
  'http://localhost/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://0/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://10.0.0.1/',
  'http://192.168.0.1:8080/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
])('%s is on this machine or in its network, and is rejected', async (url) => {
  expect(await refusal(call(fetchTool(), nowhere, { url }))).toContain('only the public internet');
});

test.each([
  ['file:///etc/passwd', 'Only addresses that begin with https:// or http://'],
  ['ftp://example.com/', 'Only addresses'],
  ['data:text/plain,x', 'Only addresses'],
  ['http://user:secret@example.com/', 'user name or password'],
  ['http://user@example.com/', 'user name or password'],
  ['example.com', 'is not an address'],
  ['//example.com', 'is not an address'],
])('%s is not fetched', async (url, why) => {
  expect(await refusal(call(fetchTool(), nowhere, { url }))).toContain(why);
});

test('a name that has an internal address is rejected, even if it also has public addresses', async () => {
  const { get, asked } = await serve((_request, response) => void response.end('SECRET'));
  for (const found of [['10.0.0.1'], ['127.0.0.1', '10.0.0.1'], []]) {
    const getting = get('http://a.test:PORT/', { lookup: async () => found });
    expect(await refusal(getting)).toContain('only the public internet');
  }
  expect(asked).toEqual([]);
});

test('a name is resolved once for each request, so a later, different answer has no effect', async () => {
  let looked = 0;
  const lookup = async () => [looked++ === 0 ? '127.0.0.1' : '127.0.0.2'];
  const { get } = await serve((_request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('public');
  });
  expect((await get('http://a.test:PORT/', { lookup })).output).toBe('public');
  expect(looked).toBe(1);
});

test('the target of a redirect is checked, too, because its name may now have an internal address', async () => {
  let looked = 0;
  const lookup = async () => [looked++ === 0 ? '127.0.0.1' : '10.0.0.1'];
  const { get, asked } = await serve((_request, response) => {
    response.writeHead(302, { location: '/next' }).end();
  });
  expect(await refusal(get('http://a.test:PORT/', { lookup }))).toContain(
    'only the public internet',
  );
  expect(asked).toHaveLength(1);
});

test('up to five redirects on one host are followed; a redirect to another host is only reported', async () => {
  const { get, asked } = await serve((request, response) => {
    const count = Number(request.url?.slice(1));
    if (count > 0) response.writeHead(301, { location: `/${count - 1}` }).end();
    else if (request.url === '/away')
      response.writeHead(302, { location: 'http://b.test/x' }).end();
    else if (request.url === '/file') response.writeHead(302, { location: 'file:///x' }).end();
    else if (request.url === '/bad') response.writeHead(302, { location: 'http://' }).end();
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('there');
  });
  expect((await get('http://a.test:PORT/5')).output).toBe('there');
  expect(asked).toHaveLength(6);
  expect(await refusal(get('http://a.test:PORT/6'))).toContain('redirects too often');
  expect((await get('http://a.test:PORT/away')).output).toContain(
    'leads to http://b.test/x: fetch',
  );
  expect(await refusal(get('http://a.test:PORT/file'))).toContain('Only addresses');
  expect(await refusal(get('http://a.test:PORT/bad'))).toContain('is not an address');
});

test('a call that is stopped does not wait for a name that takes long to resolve', async () => {
  const abort = new AbortController();
  const { get } = await serve(() => undefined);
  const lookup = () => {
    abort.abort();
    return new Promise<string[]>(() => undefined);
  };
  expect(await refusal(get('http://slow.test:PORT/', { lookup }, abort.signal))).toContain(
    'stopped',
  );
});

test('the wait for a server that does not answer ends when the turn is stopped', async () => {
  const abort = new AbortController();
  const { get } = await serve(() => abort.abort());
  expect(await refusal(get('http://a.test:PORT/', {}, abort.signal))).toContain('stopped');
});

test('the error for a server that cannot be reached names the server', async () => {
  const { get } = await serve((request) => request.socket.destroy());
  expect(await refusal(get('http://a.test:PORT/'))).toMatch(/^a\.test:\d+ could not be reached: /);
});

test('a permission is for one host', () => {
  expect(fetchTool().needs({ url: 'https://Example.com:443/a' }, { projectDir: '/' })).toEqual([
    { always: 'requests to example.com', rule: 'fetch:example.com', also: ['tool:fetch'] },
  ]);
});

test('the tool fetch exists only if the options request it; all other tools always exist', () => {
  const names = ['read', 'write', 'edit', 'list', 'search', 'bash', 'plan'];
  expect(builtInTools().map(({ name }) => name)).toEqual(names);
  expect(builtInTools({ fetch: true }).map(({ name }) => name)).toEqual([...names, 'fetch']);
});

test('the tool plan returns the plan, and needs no permission', async () => {
  const plan = builtInTools().find(({ name }) => name === 'plan')!;
  const entries = [
    { content: 'one', priority: 'high', status: 'completed' },
    { content: 'two', status: 'pending' },
  ];
  expect(await call(plan, nowhere, { entries })).toEqual({
    output: 'The plan is shown: 1 of 2 steps are done.',
    success: true,
    plan: [entries[0], { ...entries[1], priority: 'medium' }],
  });
  expect(plan.needs({ entries }, { projectDir: '/' })).toBeUndefined();
});
