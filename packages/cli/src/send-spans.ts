import { refusalOfProxy, throughProxy } from '@liminal/agents/proxy';
import { hideUrlSecrets, LiminalError } from '@liminal/protocol';
import { z } from 'zod';
import { isHttpAddress } from './http-address.ts';

/** In ms, OpenTelemetry's default. */
const TIMEOUT_MS = 10_000;
const Answer = z.object({
  partialSuccess: z
    .object({ rejectedSpans: z.coerce.number().default(0), errorMessage: z.string().default('') })
    .optional(),
});

/**
 * Posts OTLP in JSON to the endpoint of the standard variables
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Uses plain `fetch` for the single request:
 * OpenTelemetry's exporter would need an SDK that makes live spans. Throws LiminalError `TRACES_NOT_SENT`.
 */
export async function sendSpans(request: object, env: NodeJS.ProcessEnv): Promise<void> {
  const url = endpointIn(env);
  const headers = { ...headersIn(env), 'content-type': 'application/json' };
  const body = JSON.stringify(request);
  const ms = Number(env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] || env['OTEL_EXPORTER_OTLP_TIMEOUT']);
  const signal = AbortSignal.timeout(ms > 0 ? ms : TIMEOUT_MS);
  // A redirect could send the headers to another server.
  const asked = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
  const answer = await fetch(url, asked).catch((error: unknown) => {
    throw notSent(`${url.origin} cannot be reached${throughProxy(url)}: ${reasonOf(error)}`);
  });
  const text = await answer.text();
  if (!answer.ok) throw notSent(`${url.origin} answered ${answer.status}. ${text.slice(0, 300)}`);
  const { partialSuccess } = readAnswer(text);
  if (!partialSuccess || partialSuccess.rejectedSpans === 0) return;
  const { rejectedSpans, errorMessage: why } = partialSuccess;
  throw notSent(`${url.origin} rejected ${rejectedSpans} of them. ${why}`);
}

function endpointIn(env: NodeJS.ProcessEnv): URL {
  const whole = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!whole && !base) {
    throw notSent('Set OTEL_EXPORTER_OTLP_ENDPOINT, for example to http://localhost:4318.');
  }
  const given = whole || `${base?.replace(/(?<!\/)\/+$/, '')}/v1/traces`;
  if (isHttpAddress(given)) return new URL(given);
  throw notSent('OTEL_EXPORTER_OTLP_ENDPOINT is not an http:// or https:// address.');
}

/** The headers: `name=value`, separated by commas; values are percent-encoded. */
function headersIn(env: NodeJS.ProcessEnv): Record<string, string> {
  const text = env['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] || env['OTEL_EXPORTER_OTLP_HEADERS'] || '';
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) throw new Error('a header has no name');
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      }),
    );
  } catch {
    throw notSent('OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs, separated by commas.');
  }
}

/** Some servers answer with an empty body, or in another format. */
function readAnswer(text: string): z.infer<typeof Answer> {
  try {
    return Answer.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The reason of an error of `fetch`, which is its cause. */
export function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  const said = cause instanceof Error ? cause.message || cause.name : String(cause);
  return refusalOfProxy(error) ?? hideUrlSecrets(said);
}

function notSent(why: string): LiminalError {
  return new LiminalError('TRACES_NOT_SENT', `The spans were not sent. ${why.trim()}`);
}
