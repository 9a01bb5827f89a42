/** The destinations of spans, as the variables of OpenTelemetry, Langfuse and OpenLLMetry configure them. */
import { isHttpUrl } from '../http-url.ts';
import type { ConfigFile } from './file.ts';

/** Variables with keys, or with headers that may contain keys. */
export const telemetrySecrets = [
  'LANGFUSE_SECRET_KEY',
  'TRACELOOP_API_KEY',
  'TRACELOOP_HEADERS',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

type Variable = (name: string) => string | undefined;

/** Contains only the settings that Liminal itself needs. Each exporter reads its other variables itself. */
export interface TelemetryConfig {
  captureContent: boolean;
  otlp?: 'http/protobuf' | 'http/json';
  langfuse?: { publicKey: string; secretKey: string; baseUrl: string };
  /** The API key; '' if the variables give headers instead, or no key is needed. */
  openllmetry?: { apiKey: string };
  sampler: Sampler;
  /** Sentences that say why a requested destination is not used. */
  problems: string[];
}

/** Which of the traces that begin in this server are sent: all, none, or a share. */
export type Sampler = 'all' | 'none' | { share: number };

/** Returns undefined if no destination is configured: then no tracing code is loaded, and nothing is measured. */
export function telemetryConfig(
  { captureContent: isAsked }: Pick<ConfigFile, 'captureContent'>,
  variable: Variable,
): TelemetryConfig | undefined {
  if (isTrue(variable('OTEL_SDK_DISABLED'))) return undefined;
  const problems: string[] = [];
  const otlp = otlpProtocol(variable, problems);
  const langfuse = langfuseAccess(variable, problems);
  const openllmetry = openllmetryAccess(variable, problems);
  if (!otlp && !langfuse && !openllmetry && problems.length === 0) return undefined;
  const captureContent =
    isAsked ?? isTrue(variable('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'));
  return {
    captureContent,
    ...(otlp && { otlp }),
    ...(langfuse && { langfuse }),
    ...(openllmetry && { openllmetry }),
    sampler: samplerOf(variable, problems),
    problems,
  };
}

function otlpProtocol(variable: Variable, problems: string[]): TelemetryConfig['otlp'] {
  const exporter = variable('OTEL_TRACES_EXPORTER');
  const ofTraces = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const name = variable(ofTraces) === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : ofTraces;
  const endpoint = variable(name);
  const isWanted = exporter === undefined ? endpoint !== undefined : exporter.includes('otlp');
  if (!isWanted || !isAddress(name, endpoint, problems)) return undefined;
  const protocol =
    variable('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ??
    variable('OTEL_EXPORTER_OTLP_PROTOCOL') ??
    'http/protobuf';
  if (protocol === 'http/protobuf' || protocol === 'http/json') return protocol;
  problems.push(
    `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, but only http/protobuf and http/json are supported: no spans are sent by OTLP. Most collectors accept both on port 4318.`,
  );
  return undefined;
}

function langfuseAccess(variable: Variable, problems: string[]): TelemetryConfig['langfuse'] {
  const publicKey = variable('LANGFUSE_PUBLIC_KEY');
  const secretKey = variable('LANGFUSE_SECRET_KEY');
  if (publicKey === undefined && secretKey === undefined) return undefined;
  // Newer versions of Langfuse's libraries read `LANGFUSE_BASE_URL`.
  const baseUrl = variable('LANGFUSE_HOST') ?? variable('LANGFUSE_BASE_URL');
  if (publicKey !== undefined && secretKey !== undefined && baseUrl !== undefined) {
    return isAddress('LANGFUSE_HOST', baseUrl, problems)
      ? { publicKey, secretKey, baseUrl: baseUrl.replace(/(?<!\/)\/+$/, '') }
      : undefined;
  }
  const needed = Object.entries({
    LANGFUSE_PUBLIC_KEY: publicKey,
    LANGFUSE_SECRET_KEY: secretKey,
    LANGFUSE_HOST: baseUrl,
  });
  const missing = needed.flatMap(([name, value]) => (value === undefined ? [name] : []));
  problems.push(
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set: nothing is sent to Langfuse, which needs its two keys and its host.`,
  );
  return undefined;
}

function openllmetryAccess(variable: Variable, problems: string[]): TelemetryConfig['openllmetry'] {
  const names = ['TRACELOOP_API_KEY', 'TRACELOOP_BASE_URL', 'TRACELOOP_HEADERS'];
  if (names.every((name) => variable(name) === undefined)) return undefined;
  if (!isAddress('TRACELOOP_BASE_URL', variable('TRACELOOP_BASE_URL'), problems)) return undefined;
  return { apiKey: variable('TRACELOOP_API_KEY') ?? '' };
}

/** Whether the variable is an http or https URL. An unset address is valid: the exporter has a default. */
function isAddress(name: string, value: string | undefined, problems: string[]): boolean {
  if (value === undefined || isHttpUrl(value)) return true;
  problems.push(`${name} is not an http:// or https:// address: no spans are sent there.`);
  return false;
}

/**
 * This setting applies only to traces that begin in this server. For a trace that a caller began, the caller's decision
 * applies.
 */
function samplerOf(variable: Variable, problems: string[]): Sampler {
  const name = variable('OTEL_TRACES_SAMPLER')?.replace('parentbased_', '') ?? 'always_on';
  if (name === 'always_on') return 'all';
  if (name === 'always_off') return 'none';
  const share = Number(variable('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (name === 'traceidratio' && share >= 0 && share <= 1) return { share };
  problems.push(
    'OTEL_TRACES_SAMPLER or OTEL_TRACES_SAMPLER_ARG has an unsupported value, so every trace is sent.',
  );
  return 'all';
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}
