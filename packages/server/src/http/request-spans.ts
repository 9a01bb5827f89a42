import {
  type Operation,
  readTrace,
  readTraceparent,
  requestAttributes,
  type SpanContext,
  TraceContext,
  writeTraceparent,
} from '@liminal/protocol';
import { newId, newTrace, type Tracing } from '@liminal/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './schema.ts';

/** The span of a request. The span ends with the response. */
interface OpenSpan extends SpanContext {
  parentSpanId: string | undefined;
  /** The start of the span, in ms since the epoch. */
  startedAt: number;
}

/**
 * Makes a span for each command that sends a message (the turn's span is below this span), and for each other command
 * whose request contains a trace. If a request is rejected before its command, for example because it has no
 * credentials, there is no span.
 */
export function traceRequests(app: App, tracing: Tracing): void {
  const open = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook('preHandler', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    const caller = operation && operation.method !== 'GET' ? callerOf(request) : undefined;
    if (!operation || (!operation.traced && !caller)) return;
    const span = startSpan(readTraceparent(caller?.traceparent), reply, tracing);
    if (span.isSampled) open.set(request, span);
    if (operation.traced) request.body = withSpanContext(span, caller, request.body);
  });
  app.addHook('onResponse', async (request, reply) => {
    const span = open.get(request);
    const { operation } = request.routeOptions.config;
    if (span && operation) tracing.add([endedSpan(span, operation, request, reply)]);
  });
}

/** Returns the trace context in the body, or, if the body has none, the trace context in the headers. */
function callerOf({ body, headers }: FastifyRequest): TraceContext | undefined {
  const hasContext = typeof body === 'object' && body !== null && 'traceContext' in body;
  const given = hasContext ? TraceContext.safeParse(body.traceContext).data : undefined;
  const { traceparent, tracestate } = headers;
  return given ?? readTrace({ traceparent, tracestate });
}

function startSpan(
  caller: SpanContext | undefined,
  reply: FastifyReply,
  tracing: Tracing,
): OpenSpan {
  const { traceId, isSampled } = caller ?? newTrace(tracing);
  return {
    traceId,
    spanId: newId(8),
    isSampled,
    parentSpanId: caller?.spanId,
    startedAt: Date.now() - reply.elapsedTime,
  };
}

/**
 * Returns the body with the request's span as its trace context, so that the turn's span is below the request's span.
 */
function withSpanContext(span: OpenSpan, caller: TraceContext | undefined, body: unknown): unknown {
  const traceContext: TraceContext = { ...caller, traceparent: writeTraceparent(span) };
  return typeof body === 'object' ? { ...body, traceContext } : body;
}

function endedSpan(
  { traceId, spanId, parentSpanId, startedAt }: OpenSpan,
  { method, path }: Operation,
  { params }: FastifyRequest,
  { statusCode: status }: FastifyReply,
) {
  const { id: sessionId } = params as { id?: string };
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    startedAt,
    name: `${method} ${path}`,
    kind: 'server' as const,
    endedAt: Date.now(),
    attributes: requestAttributes({ method, route: path, status, sessionId }),
    hasFailed: status >= 500,
  };
}
