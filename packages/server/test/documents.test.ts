import { operations, serverOperations } from '@liminal/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

interface OpenApi {
  openapi: string;
  servers: unknown;
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: unknown; responses: object }>
  >;
  components: { schemas: Record<string, unknown> };
}

async function openApi(): Promise<OpenApi> {
  return (await server.app.inject({ url: '/openapi.json', headers: bearer })).json();
}

test('the OpenAPI document lists all routes', async () => {
  const { openapi, paths } = await openApi();
  expect(openapi).toBe('3.1.0');
  expect(Object.keys(paths).toSorted()).toEqual([
    '/api/agents',
    '/api/agents/{cliType}/sessions',
    '/api/blob',
    '/api/blob/{hash}',
    '/api/folders',
    '/api/project/files',
    '/api/project/grants',
    '/api/project/grants/remove',
    '/api/projects',
    '/api/run/{id}',
    '/api/run/{id}/events',
    '/api/search',
    '/api/session/create',
    '/api/session/import',
    '/api/session/list',
    '/api/session/{id}',
    '/api/session/{id}/approval/{approvalId}',
    '/api/session/{id}/archive',
    '/api/session/{id}/aside',
    '/api/session/{id}/background',
    '/api/session/{id}/cancel',
    '/api/session/{id}/config',
    '/api/session/{id}/diff',
    '/api/session/{id}/directories',
    '/api/session/{id}/export',
    '/api/session/{id}/file',
    '/api/session/{id}/fork',
    '/api/session/{id}/history',
    '/api/session/{id}/kill',
    '/api/session/{id}/load',
    '/api/session/{id}/mcp',
    '/api/session/{id}/mcp/{name}',
    '/api/session/{id}/notify',
    '/api/session/{id}/pin',
    '/api/session/{id}/prewarm',
    '/api/session/{id}/queue/resume',
    '/api/session/{id}/queue/{turnId}',
    '/api/session/{id}/queue/{turnId}/move',
    '/api/session/{id}/queue/{turnId}/now',
    '/api/session/{id}/rewind',
    '/api/session/{id}/send',
    '/api/session/{id}/setup',
    '/api/session/{id}/status',
    '/api/session/{id}/steer',
    '/api/session/{id}/stream',
    '/api/session/{id}/task/{taskId}/stop',
    '/api/session/{id}/title',
    '/api/session/{id}/unarchive',
    '/api/session/{id}/unpin',
    '/api/sign-in-link',
    '/api/sign-out',
    '/healthz',
    '/readyz',
  ]);
  expect(Object.keys(paths['/api/session/{id}/queue/{turnId}']!).toSorted()).toEqual([
    'delete',
    'put',
  ]);
});

test.each(Object.entries({ ...operations, ...serverOperations }))(
  'the server has a route for %s',
  (_, { method, path }) => {
    expect(server.app.hasRoute({ method, url: path })).toBe(true);
  },
);

test('in the OpenAPI document, each operation has the name of the client’s function, and there is a server', async () => {
  const { servers, paths } = await openApi();
  const names = Object.values(paths).flatMap((there) =>
    Object.values(there).map(({ operationId }) => operationId),
  );
  expect(names.toSorted()).toEqual(Object.keys({ ...operations, ...serverOperations }).toSorted());
  expect(servers).toEqual([{ url: '/' }]);
});

test('the OpenAPI document refers only to its own schemas', async () => {
  const document = await openApi();
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
  const names = new Set([...references].map(([, name]) => name!));
  expect(names.size).toBeGreaterThan(10);
  for (const name of names) expect(document.components.schemas).toHaveProperty(name);
  expect(document.paths['/api/session/create']!['post']!.requestBody).toMatchObject({
    content: { 'application/json': { schema: { $ref: '#/components/schemas/CreateSessionBody' } } },
  });
});

test('the OpenAPI document lists the errors of each operation', async () => {
  const { responses } = (await openApi()).paths['/api/session/{id}/queue/{turnId}']!['put']!;
  expect(responses).toMatchObject({
    200: { description: 'Done.' },
    404: { description: 'SESSION_NOT_FOUND, BLOB_NOT_FOUND.' },
    409: { description: 'MESSAGE_NOT_QUEUED.' },
    429: { description: 'QUEUE_FULL.' },
    default: { description: 'A refusal.' },
  });
});
