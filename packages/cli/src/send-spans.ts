import { refusalOfProxy, throughProxy } from '@liminal/agents/proxy';
import { hideUrlSecrets } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from './errors.ts';
import { isHttpUrl } from './http-url.ts';

/** Time limit for the request, in ms. OpenTelemetry has the same default. */
const timeoutMs = 10_000;
const OtlpResponse = z.object({
  partialSuccess: z
    .object({ rejectedSpans: z.coerce.number().default(0), errorMessage: z.string().default('') })
    .optional(),
});

/**
 * Posts OTLP in JSON to the endpoint in OpenTelemetry's standard variables
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Uses plain `fetch` for the single request:
 * OpenTelemetry's exporter would need an SDK that makes live spans. Throws LiminalError `TRACES_NOT_SENT`.
 */
export async function sendSpans(request: object, env: NodeJS.ProcessEnv): Promise<void> {
  const url = endpointIn(env);
  const headers = { ...headersIn(env), 'content-type': 'application/json' };
  const body = JSON.stringify(request);
  const ms = Number(env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] || env['OTEL_EXPORTER_OTLP_TIMEOUT']);
  const signal = AbortSignal.timeout(ms > 0 ? ms : timeoutMs);
  // A redirect could send the headers to another server.
  const requestInit = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
  const response = await fetch(url, requestInit).catch((error: unknown) => {
    throw errors.TRACES_NOT_SENT.unreachable(
      url.origin,
      throughProxy(url),
      fetchErrorReason(error),
    );
  });
  const text = await response.text();
  if (!response.ok)
    throw errors.TRACES_NOT_SENT.answered(url.origin, response.status, text.slice(0, 300));
  const { partialSuccess } = readOtlpResponse(text);
  if (!partialSuccess || partialSuccess.rejectedSpans === 0) return;
  const { rejectedSpans, errorMessage: why } = partialSuccess;
  throw errors.TRACES_NOT_SENT.rejected(url.origin, rejectedSpans, why);
}

function endpointIn(env: NodeJS.ProcessEnv): URL {
  const tracesUrl = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const baseUrl = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!tracesUrl && !baseUrl) {
    throw errors.TRACES_NOT_SENT.noAddress();
  }
  const given = tracesUrl || `${baseUrl?.replace(/(?<!\/)\/+$/, '')}/v1/traces`;
  if (isHttpUrl(given)) return new URL(given);
  throw errors.TRACES_NOT_SENT.badAddress();
}

/** Parses headers of the form `name=value`, separated by commas. Values are percent-encoded. */
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
    throw errors.TRACES_NOT_SENT.badHeaders();
  }
}

/** Accept any body: some servers respond with an empty body, or with a body in another format. */
function readOtlpResponse(text: string): z.infer<typeof OtlpResponse> {
  try {
    return OtlpResponse.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Returns the reason for an error of `fetch`. Node puts this reason into the error's `cause`. */
export function fetchErrorReason(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  const message = cause instanceof Error ? cause.message || cause.name : String(cause);
  return refusalOfProxy(error) ?? hideUrlSecrets(message);
}
