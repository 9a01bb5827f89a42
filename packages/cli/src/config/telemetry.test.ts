import { expect, test } from 'vitest';
import { telemetryConfig } from './telemetry.ts';

const configOf = (env: Record<string, string>, file = {}) =>
  telemetryConfig(file, (name) => env[name]);
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test('nobody wants spans unless a variable says so', () => {
  expect(configOf({})).toBeUndefined();
  expect(configOf({ OTEL_SERVICE_NAME: 'a', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toBeUndefined();
  expect(configOf({}, { captureContent: true })).toBeUndefined();
  expect(configOf({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  expect(configOf({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  expect(configOf({ LANGFUSE_PUBLIC_KEY: 'a', LANGFUSE_SECRET_KEY: 'b' })).toBeUndefined();
});

test('each destination is asked for by its own variables', () => {
  expect(configOf(endpoint)).toEqual({
    captureContent: false,
    otlp: 'http/protobuf',
    sampler: 'all',
    problems: [],
  });
  const json = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' };
  expect(configOf(json)).toMatchObject({ otlp: 'http/json' });
  const keys = { LANGFUSE_PUBLIC_KEY: 'a', LANGFUSE_SECRET_KEY: 'b', LANGFUSE_HOST: 'http://c/' };
  const langfuse = configOf(keys, { captureContent: true });
  expect(langfuse).toMatchObject({
    captureContent: true,
    langfuse: { publicKey: 'a', secretKey: 'b', baseUrl: 'http://c' },
  });
  expect(langfuse).not.toHaveProperty('otlp');
  expect(configOf({ TRACELOOP_BASE_URL: 'http://d' })).toMatchObject({
    openllmetry: { apiKey: '' },
  });
});

test('the file decides on content, and then OpenTelemetry’s variable', () => {
  const asks = { ...endpoint, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
  expect(configOf(asks)?.captureContent).toBe(true);
  expect(configOf(asks, { captureContent: false })?.captureContent).toBe(false);
});

test('what cannot be done is said, and the server starts all the same', () => {
  const grpc = configOf({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  expect(grpc).not.toHaveProperty('otlp');
  expect(grpc?.problems).toEqual([expect.stringContaining('http/protobuf')]);
  const share = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  expect(configOf({ ...endpoint, ...share })?.sampler).toEqual({ share: 0.5 });
  const off = configOf({ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' });
  expect(off).toMatchObject({ sampler: 'none', problems: [] });
  const wrong = configOf({ ...endpoint, ...share, OTEL_TRACES_SAMPLER_ARG: 'half' });
  expect(wrong).toMatchObject({ sampler: 'all', problems: [expect.any(String)] });
});
