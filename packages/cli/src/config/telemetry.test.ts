import { expect, test } from 'vitest';
import { telemetryConfig } from './telemetry.ts';

const configOf = (env: Record<string, string>, file = {}) =>
  telemetryConfig(file, (name) => env[name]);
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test('no spans are sent unless a variable asks for spans', () => {
  expect(configOf({})).toBeUndefined();
  expect(configOf({ OTEL_SERVICE_NAME: 'a', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toBeUndefined();
  expect(configOf({}, { captureContent: true })).toBeUndefined();
  expect(configOf({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  expect(configOf({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  expect(configOf({ LANGFUSE_HOST: 'http://c' })).toBeUndefined();
});

test('each destination is enabled by its own variables', () => {
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

test('the file decides whether spans contain prompts and answers; without a setting in the file, OpenTelemetry’s variable decides', () => {
  const asks = { ...endpoint, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
  expect(configOf(asks)?.captureContent).toBe(true);
  expect(configOf(asks, { captureContent: false })?.captureContent).toBe(false);
});

test('an unsupported setting is reported, and the server still starts', () => {
  const grpc = configOf({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  expect(grpc).not.toHaveProperty('otlp');
  expect(grpc?.problems).toEqual([expect.stringContaining('http/protobuf')]);
  const share = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  expect(configOf({ ...endpoint, ...share })?.sampler).toEqual({ share: 0.5 });
  const off = configOf({ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' });
  expect(off).toMatchObject({ sampler: 'none', problems: [] });
  const nowhere = { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318', TRACELOOP_BASE_URL: 'here' };
  expect(configOf(nowhere)).toEqual({
    captureContent: false,
    sampler: 'all',
    problems: [
      'OTEL_EXPORTER_OTLP_ENDPOINT is not an http:// or https:// address: no spans are sent there.',
      'TRACELOOP_BASE_URL is not an http:// or https:// address: no spans are sent there.',
    ],
  });
  const wrong = configOf({ ...endpoint, ...share, OTEL_TRACES_SAMPLER_ARG: 'half' });
  expect(wrong).toMatchObject({ sampler: 'all', problems: [expect.any(String)] });
});

test('FR-001-33: the error about missing or wrong variables of Langfuse contains their names', () => {
  const problemOf = (env: Record<string, string>) => {
    const config = configOf(env);
    expect(config).not.toHaveProperty('langfuse');
    return config?.problems.join(' ');
  };
  const keys = { LANGFUSE_PUBLIC_KEY: 'pk', LANGFUSE_SECRET_KEY: 'sk' };
  const { LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY } = keys;
  const needs = 'not set: nothing is sent to Langfuse, which needs its two keys and its host.';
  expect(problemOf(keys)).toBe(`LANGFUSE_HOST is ${needs}`);
  expect(problemOf({ LANGFUSE_SECRET_KEY, LANGFUSE_HOST: 'http://c' })).toBe(
    `LANGFUSE_PUBLIC_KEY is ${needs}`,
  );
  expect(problemOf({ LANGFUSE_PUBLIC_KEY })).toBe(
    `LANGFUSE_SECRET_KEY and LANGFUSE_HOST are ${needs}`,
  );
  expect(problemOf({ ...keys, LANGFUSE_HOST: 'here' })).toBe(
    'LANGFUSE_HOST is not an http:// or https:// address: no spans are sent there.',
  );
});
