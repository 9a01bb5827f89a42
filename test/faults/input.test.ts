import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillPath, OpenApi, type Route, routesOf, spoils } from './input-arbitrary.ts';
import { expectRefusal } from './input-law.ts';
import { InputStage, type Wire } from './input-stage.ts';
import { length, seed } from './length.ts';

let stage: InputStage;
let routes: Route[];

beforeAll(async () => {
  stage = await InputStage.start();
  const { headers } = stage;
  const { text } = await stage.ask({ method: 'GET', path: '/openapi.json', headers });
  // The OpenAPI document does not contain these two routes: they are documented elsewhere, and are not meant for
  // clients of the API.
  const others = ['/openapi.json', '/metrics'].map((path) => ({
    method: 'GET',
    path,
    methods: ['GET'],
    query: [],
    body: undefined,
    takesFiles: false,
  }));
  routes = [...routesOf(OpenApi.parse(JSON.parse(text))), ...others];
});
afterAll(async () => stage.end());

/**
 * Returns a valid request about the session that must not change. Without the mutation, the request might change the
 * session.
 */
function plain({ method, path, body }: Route): Wire {
  const ids = path.startsWith('/api/run') ? [stage.runId] : [stage.sessionId, stage.runId];
  const fields = Object.fromEntries((body?.required ?? []).map((name) => [name, 'x']));
  return {
    method,
    path: fillPath(path, ids),
    headers: body ? stage.headers : { authorization: stage.headers['authorization'] ?? '' },
    ...(body && { body: JSON.stringify(fields) }),
  };
}

test('every route rejects every kind of invalid request with a documented status and code, and nothing changes', async () => {
  expect(routes.length).toBeGreaterThan(15);
  const spoiled = fc
    .constantFrom(...routes)
    .chain((route) =>
      fc
        .array(spoils(route), { minLength: 1, maxLength: 2 })
        .map((steps) => steps.reduce((wire, spoil) => spoil(wire), plain(route))),
    );
  await fc.assert(
    fc.asyncProperty(spoiled, async (wire) => expectRefusal(await stage.ask(wire))),
    { numRuns: length.requests, seed },
  );
  await stage.assertUnharmed();
}, 600_000);
