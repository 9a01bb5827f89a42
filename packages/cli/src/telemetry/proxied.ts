/** Proxies for OpenTelemetry's exporters: each exporter uses Node's HTTP client with its own `http.Agent`. */
import { readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import type { AgentOptions } from 'node:https';
import { proxyAgentFor } from '@liminal/agents/proxy';
import type { TelemetryConfig } from '../config/telemetry.ts';

/** Returns the address to which OTLP spans are sent. The exporter adds the path. */
export const otlpAddress = (env: NodeJS.ProcessEnv): string =>
  env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ||
  env['OTEL_EXPORTER_OTLP_ENDPOINT'] ||
  'http://localhost:4318';

/** Returns the address to which OpenLLMetry's spans are sent. */
export const openLlmetryAddress = (env: NodeJS.ProcessEnv): string =>
  `${env['TRACELOOP_BASE_URL'] || 'https://api.traceloop.com'}/v1/traces`;

/** Returns every address to which spans are sent, with the name of the exporter. */
export function addressesOf(
  { otlp, langfuse, openllmetry }: TelemetryConfig,
  env: NodeJS.ProcessEnv,
): [name: string, address: string][] {
  return [
    ...(otlp ? [['OTLP', otlpAddress(env)] as [string, string]] : []),
    ...(langfuse ? [['Langfuse', langfuse.baseUrl] as [string, string]] : []),
    ...(openllmetry ? [['OpenLLMetry', openLlmetryAddress(env)] as [string, string]] : []),
  ];
}

/**
 * Returns the options with which an exporter sends to this address through the environment's proxy. Returns no options
 * if the exporter sends directly.
 * @throws Error if a variable with a proxy or a certificate is unusable.
 */
export function proxied(address: string): { httpAgentOptions?: () => Agent } {
  const agent = proxyAgentFor(new URL(address), { keepAlive: true, ...certificates() });
  return agent === undefined ? {} : { httpAgentOptions: () => agent };
}

/** Returns the certificates that the exporter would read itself if it created its own `http.Agent`. */
function certificates(): AgentOptions {
  const read = (name: string): Buffer | undefined => {
    const path =
      process.env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] ?? process.env[`OTEL_EXPORTER_OTLP_${name}`];
    return path ? readFileSync(path) : undefined;
  };
  const all = {
    ca: read('CERTIFICATE'),
    cert: read('CLIENT_CERTIFICATE'),
    key: read('CLIENT_KEY'),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
