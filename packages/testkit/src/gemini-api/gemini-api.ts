/** Starts a scripted Gemini API on loopback, for Gemini CLI. */
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import {
  ConnectionCut,
  playIncident,
  type StreamIncident,
} from '../scripted-server/stream-incident.ts';
import { sendJson, serveLoopback } from '../scripted-server/loopback.ts';
import { RecordedRequests } from '../scripted-server/recorded-requests.ts';
import { readScript, type ScriptOf } from '../scripted-server/script.ts';

const Body = z.looseObject({
  contents: z.array(
    z.looseObject({
      role: z.string().optional(),
      parts: z.array(z.looseObject({ text: z.string().optional() })).optional(),
    }),
  ),
  tools: z.array(z.unknown()).optional(),
});

export interface GeminiRequest {
  /** The method of the model, such as `streamGenerateContent`. */
  method: string;
  body: z.infer<typeof Body>;
  /** The texts of the last content that has the role `user`, joined. */
  prompt: string;
}

/** A part of an answer in the API's format, or an incident between two parts. */
export type GeminiPart = Record<string, unknown> | StreamIncident;

export interface GeminiReply {
  /** The HTTP status. With any status except 200, an error in the API's format is sent. */
  status: number;
  parts: GeminiPart[];
}

const geminiText = (text: string): GeminiPart => ({ text });
export const geminiThought = (text: string): GeminiPart => ({ text, thought: true });
export const geminiCall = (name: string, args: Record<string, unknown>): GeminiPart => ({
  functionCall: { name, args },
});

export const geminiReply = (...parts: (string | GeminiPart)[]): GeminiReply => ({
  status: 200,
  parts: parts.map((part) => (typeof part === 'string' ? geminiText(part) : part)),
});
export const geminiError = (status: number): GeminiReply => ({ status, parts: [] });

export type GeminiScript = ScriptOf<GeminiRequest, GeminiReply>;

export interface GeminiApi {
  /** The value for `GOOGLE_GEMINI_BASE_URL`. */
  readonly url: string;
  /** Every request for a model's answer so far, in the order of arrival. */
  readonly requests: GeminiRequest[];
  /** Ends the server and every connection that is still open. */
  close(): Promise<void>;
}

/** Starts the API. Requests without tools are Gemini CLI's own requests, and do not use the script. */
export async function startGeminiApi(script: GeminiScript): Promise<GeminiApi> {
  const requests = new RecordedRequests<GeminiRequest>();
  const answer = readScript(script, () => geminiError(400));
  const server = await serveLoopback(async (plain, response) => {
    const method = /\/models\/[^/:]+:([a-z]+)/i.exec(plain.path)?.[1];
    if (method === undefined) return sendJson(response, 404, error(404));
    if (method === 'countTokens') return sendJson(response, 200, { totalTokens: 1 });
    const body = Body.parse(JSON.parse(plain.body));
    const last = body.contents.findLast(({ role }) => role === 'user');
    const prompt = (last?.parts ?? []).flatMap(({ text = '' }) => text).join('\n');
    const request = { method, body, prompt };
    requests.add(request);
    const isOwn = body.tools === undefined || body.tools.length === 0;
    return play(response, method, isOwn ? geminiReply('{}') : answer(request));
  }, fail);
  return { url: server.url, requests: requests.list, close: () => server.close() };
}

async function play(response: ServerResponse, method: string, reply: GeminiReply): Promise<void> {
  const { status, parts } = reply;
  if (status !== 200) return sendJson(response, status, error(status));
  if (method !== 'streamGenerateContent') {
    return sendJson(
      response,
      200,
      chunk(
        parts.filter((part) => !isHappening(part)),
        'STOP',
      ),
    );
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (value: unknown): void => {
    response.write(`data: ${JSON.stringify(value)}\n\n`);
  };
  for (const part of parts) {
    if (isHappening(part)) await playIncident(response, part);
    else send(chunk([part]));
  }
  send(chunk([], 'STOP'));
  response.end();
}

const isHappening = (part: GeminiPart): part is StreamIncident => 'type' in part;

const chunk = (parts: readonly unknown[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, finishReason }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  modelVersion: 'scripted-model',
});

const error = (code: number) => ({
  error: { code, message: `scripted error ${code}`, status: 'INVALID_ARGUMENT' },
});

function fail(response: ServerResponse, problem: unknown): void {
  if (problem instanceof ConnectionCut || response.destroyed) return;
  if (response.headersSent) response.destroy();
  else sendJson(response, 400, { error: { code: 400, message: String(problem) } });
}
