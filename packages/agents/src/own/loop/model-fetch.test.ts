import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { modelFetch, PageError } from './model-fetch.ts';

/** Serves one response, and returns its address. */
async function serve(answer: (response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((_request, response) => void answer(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/models?key=x`;
}

const says = (body: string, type = 'application/json', status = 200) =>
  serve((response) => response.writeHead(status, { 'content-type': type }).end(body));

test.each<[what: string, body: string, status: number]>([
  ['an error’s code', '{"error":{"code":429}}', 429],
  ['an error’s status', '{"error":{"status":"503"}}', 503],
  ['the code beside an error', '{"error":"No.","code":401}', 401],
  ['the lowest status of an error', '{"error":{"code":400}}', 400],
  ['the status beside an error', '{"error":{"code":"full"},"status":599}', 599],
  ['no status of an error that names one below 400', '{"error":{"code":399}}', 200],
  ['no status of an error that names one above 599', '{"error":{"code":600}}', 200],
  ['no status of an answer without an error', '{"error":null,"code":500}', 200],
  ['no status of a list', '[{"error":{"code":500}}]', 200],
  ['no status of a text that is not JSON', '{"error":', 200],
])('a response with status 200 has %s: %s', async (_, body, status) => {
  const response = await modelFetch(await says(body));
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(body);
});

test('if an error contains no status, the caller chooses the status', async () => {
  const unnamed = (error: object) => (Object.keys(error).length === 0 ? 500 : 418);
  const statusOf = async (body: string) => (await modelFetch(await says(body), {}, unnamed)).status;
  expect(await statusOf('{"error":{"message":"No."}}')).toBe(418);
  expect(await statusOf('{"error":"No."}')).toBe(500);
  expect(await statusOf('{"error":{"code":404}}')).toBe(404);
});

test.each([
  ['text/html; charset=utf-8', 'Sign in.'],
  ['text/plain', ' \n<!DOCTYPE html><p>Sign in.'],
  ['application/json', '<html>'],
])('a web page is an error that names its address without the query (%s)', async (type, body) => {
  const address = await says(body, type);
  const fetching = modelFetch(address);
  await expect(fetching).rejects.toThrow(PageError);
  await expect(fetching).rejects.toMatchObject({ code: 'MODEL_ERROR' });
  await expect(fetching).rejects.toThrow(
    `${address.replace('?key=x', '')} answers with a web page, not as a model’s server.`,
  );
});

test('an error response, events, and a text that only mentions a page are returned unchanged', async () => {
  const failed = await modelFetch(await says('<html>', 'text/html', 502));
  expect([failed.status, await failed.text()]).toEqual([502, '<html>']);
  const events = 'data: {"error":{"code":500}}\n\n';
  const streamed = await modelFetch(await says(events, 'text/event-stream'));
  expect([streamed.status, await streamed.text()]).toEqual([200, events]);
  const text = await modelFetch(await says('Not <html>', 'text/plain'));
  expect(await text.text()).toBe('Not <html>');
});

test('a body that arrives in pieces, after white space, is returned whole', async () => {
  const gate = Promise.withResolvers<void>();
  const address = await serve(async (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    // Each piece ends like an event, so that it is passed on at once.
    for (const piece of ['\n\n', ' \n\n', 'One\n\n']) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await gate.promise;
    response.write('two\n\n');
    response.end('three.');
  });
  // The response does not wait for the rest of its body.
  const response = await modelFetch(address, { method: 'POST', body: '{}' });
  gate.resolve();
  expect(await response.text()).toBe('\n\n \n\nOne\n\ntwo\n\nthree.');
});

test('an empty body stays empty, and a body that breaks off rejects when it is read', async () => {
  expect(await (await modelFetch(await says(''))).text()).toBe('');
  const cut = await serve((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 99 });
    response.write('{"a":');
    setImmediate(() => response.destroy());
  });
  const response = await modelFetch(cut);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
});

test('the status and headers of a response do not change, whatever its body is', async () => {
  const headers = { 'content-type': 'text/plain', 'x-id': 'one' };
  for (const body of ['Hi.', '{"a":1}', ' \n', '']) {
    const address = await serve((response) => response.writeHead(201, headers).end(body));
    const response = await modelFetch(address);
    expect([response.status, response.headers.get('x-id')]).toEqual([201, 'one']);
    expect(await response.text()).toBe(body);
  }
  const cut = await serve((response) => {
    response.writeHead(201, { ...headers, 'content-length': 99 }).write('{"a":');
    setImmediate(() => response.destroy());
  });
  const broken = await modelFetch(cut);
  expect([broken.status, broken.headers.get('x-id')]).toEqual([201, 'one']);
});

test('a text that has a letter in two pieces does not change', async () => {
  const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
  const address = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).write(first);
    setImmediate(() => response.end(second));
  });
  expect(await (await modelFetch(address)).text()).toBe('é');
});

test('a response that nobody reads ends its connection', async () => {
  const closed = Promise.withResolvers<string>();
  const address = await serve((response) => {
    response.on('close', () => closed.resolve('closed'));
    response.writeHead(200, { 'content-type': 'text/plain' }).write(`One${'.'.repeat(70_000)}`);
  });
  await (await modelFetch(address)).body?.cancel();
  expect(await closed.promise).toBe('closed');
});
