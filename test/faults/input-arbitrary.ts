import fc from 'fast-check';
import { z } from 'zod';
import type { Wire } from './input-stage.ts';

/** The parts of `GET /openapi.json` from which invalid input is made. */
const Schema = z.object({
  $ref: z.string().optional(),
  type: z.string().optional(),
  required: z.array(z.string()).default([]),
  properties: z
    .record(z.string(), z.object({ $ref: z.string().optional(), type: z.string().optional() }))
    .default({}),
});
const Operation = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.enum(['path', 'query']) })),
  requestBody: z
    .object({ content: z.object({ 'application/json': z.object({ schema: Schema }).optional() }) })
    .optional(),
});
export const OpenApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** A route with one method, and its input. */
export interface Route {
  method: string;
  /** The path, with `{name}` for each parameter. */
  path: string;
  /** The methods of all routes with this path. */
  methods: string[];
  query: string[];
  body: z.infer<typeof Schema> | undefined;
  /** Whether the body is a file. For a file, every body is valid. */
  takesFiles: boolean;
}

export function routesOf({ paths, components }: z.infer<typeof OpenApi>): Route[] {
  const named = ($ref: string | undefined) => components.schemas[$ref?.split('/').at(-1) ?? ''];
  /** Replaces references with the types to which they refer. */
  const whole = (schema: z.infer<typeof Schema>): z.infer<typeof Schema> => {
    const properties = Object.entries(schema.properties).map(([name, field]) => {
      const { type } = Schema.parse(named(field.$ref) ?? field);
      return [name, { type }] as const;
    });
    return { ...schema, properties: Object.fromEntries(properties) };
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      return {
        method: method.toUpperCase(),
        path,
        methods: Object.keys(operations).map((each) => each.toUpperCase()),
        query: parameters.flatMap((parameter) => (parameter.in === 'query' ? parameter.name : [])),
        takesFiles: requestBody !== undefined && schema === undefined,
        body: schema && whole(Schema.parse(named(schema.$ref) ?? schema)),
      };
    }),
  );
}

/** Changes a request into a request that must be rejected, whatever else is wrong with the request. */
export type Spoil = (wire: Wire) => Wire;

const withHeaders =
  (headers: Record<string, string>): Spoil =>
  (wire) => ({ ...wire, headers: { ...wire.headers, ...headers } });

const without =
  (name: string): Spoil =>
  (wire) => ({
    ...wire,
    headers: Object.fromEntries(Object.entries(wire.headers).filter(([key]) => key !== name)),
  });

/** Wrong tokens, origins and hosts. Every route that needs a token must reject them. */
const strangers: fc.Arbitrary<Spoil> = fc.oneof(
  fc.constant(without('authorization')),
  fc
    .constantFrom(
      'Bearer',
      'Bearer x',
      'bearer  ',
      'Basic eDp4',
      'Bearer a b',
      'null',
      `Bearer ${'x'.repeat(4000)}`,
    )
    .map((authorization) => withHeaders({ authorization })),
  fc
    .constantFrom(
      'http://evil.example',
      'null',
      'http://127.0.0.1:1',
      'https://localhost',
      'file://',
      'x',
    )
    .map((origin) => withHeaders({ origin })),
  fc
    .constantFrom(
      'evil.example',
      '127.0.0.1:1',
      '127.0.0.1.evil.example',
      'localhost',
      '0x7f.1',
      '[::1]',
      'a b',
      '@',
    )
    .map((host) => withHeaders({ host })),
  fc.constantFrom('cross-site', 'same-site').map((site) => withHeaders({ 'sec-fetch-site': site })),
);

/** Unknown ids, as they occur in a path. */
const strangeId = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '%2e%2e',
    '..%2f..%2fetc%2fpasswd',
    '%00',
    '%',
    '%zz',
    '%ff%fe',
    '%ed%a0%80',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    '-1',
    '*',
    '%20',
    'list',
    'create',
  ),
  fc.constantFrom(
    'a/b',
    'a%2Fb',
    '%5c..%5c',
    "';DROP%20TABLE%20sessions;--",
    '%F0%9F%98%80',
    'x'.repeat(5_000),
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }).map(percentEncode),
  fc.uuid(),
);

/** Encodes a text like `encodeURIComponent`, but does not throw for half a surrogate pair. */
function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const badText = fc.constantFrom(
  '',
  ' ',
  '{',
  '{"a":',
  '[[[[',
  '{}}',
  '{} {}',
  "{'a': 1}",
  '{"a": undefined}',
  '{"a": NaN}',
  '{"a": 0x10}',
  '{"a": 01}',
  '{a: 1}',
  '"\u0000"x',
  '\u0000',
  '\uFEFF\uFEFF{}',
  '{"__proto__": {"polluted": true}}',
  '{"constructor": {"prototype": {"polluted": true}}}',
  '['.repeat(20_000),
  '-',
);

/** JSON without the right fields. JavaScript reads 1e999 as infinity. */
const strangeJson = fc.constantFrom(
  'null',
  'true',
  '1e999',
  '""',
  '[]',
  '[{}]',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
);

const badBytes = fc.constantFrom(
  // Half a UTF-8 character, invalid bytes, a byte order mark of UTF-16, and the first bytes of gzip.
  new Uint8Array([0x22, 0xe2, 0x82]),
  new Uint8Array([0xff, 0xfe, 0x7b, 0x00]),
  new Uint8Array([0x1f, 0x8b, 0x08, 0x00]),
  new Uint8Array(70_000),
);

const contentType = fc.constantFrom(
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/octet-stream',
  'json',
  '/',
  'application/jsonp',
  ';',
);

const jsonType = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
};

/** Returns bodies with the right fields, except that one field is missing or has a wrong type. */
function badFields({ required, properties }: z.infer<typeof Schema>): fc.Arbitrary<string> {
  const valid = Object.fromEntries(required.map((name) => [name, 'x']));
  const missing = required.map((name) => {
    const others = Object.entries(valid).filter(([key]) => key !== name);
    return fc.constant(JSON.stringify(Object.fromEntries(others)));
  });
  const wrong = fc.constantFrom(...Object.entries(properties)).chain(([name, { type }]) =>
    fc
      .oneof(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(1e308, -0, '', {}, [[]]))
      .filter((value) => jsonType(value) !== type || value === '')
      .map((value) => JSON.stringify({ ...valid, [name]: value })),
  );
  return fc.oneof(...missing, wrong);
}

function spoilBody(schema: z.infer<typeof Schema>): fc.Arbitrary<Spoil> {
  return fc.oneof(
    // If no field is required, an object with unknown fields is valid.
    fc
      .oneof(
        badFields(schema),
        // If no field is required, an object with unknown fields is valid, and null is treated as no body.
        strangeJson.filter((body) => schema.required.length > 0 || !/^(\{|null$)/.test(body)),
      )
      .map((body): Spoil => (wire) => ({ ...wire, body })),
    contentType.map((type): Spoil => (wire) => ({
      ...withHeaders({ 'content-type': type })(wire),
      body: wire.body ?? '{}',
    })),
  );
}

/** Bodies that every route rejects, whether or not it reads the body. */
const brokenBody: fc.Arbitrary<Spoil> = fc
  .oneof(badText, badBytes)
  .map((body): Spoil => (wire) => ({
    ...withHeaders({ 'content-type': 'application/json' })(wire),
    body,
  }));

const spoilPath = (route: Route): fc.Arbitrary<Spoil> =>
  fc.array(strangeId, { minLength: 1, maxLength: 2 }).map((ids): Spoil => (wire) => ({
    ...wire,
    path: fillPath(route.path, ids),
  }));

export function fillPath(path: string, ids: readonly string[]): string {
  let next = 0;
  return path.replaceAll(/\{\w+\}/g, () => ids[Math.min(next++, ids.length - 1)] ?? '');
}

/** Generates a wrong query: a parameter that is given twice is not a string, so every route rejects it. */
const spoilQuery = ({ query }: Route): fc.Arbitrary<Spoil> =>
  fc
    .tuple(
      fc.constantFrom(...query),
      fc.string().map(percentEncode),
      fc.string().map(percentEncode),
    )
    .map(([name, a, b]): Spoil => (wire) => ({
      ...wire,
      path: `${wire.path}?${name}=${a}&${name}=${b}`,
    }));

const spoilMethod = ({ methods, path }: Route): fc.Arbitrary<Spoil> =>
  fc
    .constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY')
    .filter((method) => !methods.includes(method))
    .map((method): Spoil => (wire) => ({ ...wire, method, path: wire.path || path }));

/** Returns everything that can be wrong with a request to a route. */
export function spoils(route: Route): fc.Arbitrary<Spoil> {
  const isOpen = ['/healthz', '/readyz'].includes(route.path);
  const writes = route.method !== 'GET';
  const kinds: fc.Arbitrary<Spoil>[] = [
    ...(isOpen ? [] : [strangers]),
    spoilMethod(route),
    ...(route.path.includes('{') ? [spoilPath(route)] : []),
    ...(route.query.length > 0 ? [spoilQuery(route)] : []),
    ...(writes && !route.takesFiles ? [brokenBody] : []),
    ...(route.body ? [spoilBody(route.body)] : []),
  ];
  return fc.oneof(...kinds);
}
