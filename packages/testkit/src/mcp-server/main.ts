/**
 * An MCP server on stdio with these tools: `greet`, titled `$TITLE`, greets with the words of `$GREETING`; `measure`
 * returns the number of characters of its JSON input; `register` asks the user to fill in a form; `sign_in` asks the
 * user to open a link; `show` returns content other than text. `register` and `sign_in` return the user's answer as
 * JSON. If `$NOTE` is set, the server has a resource, `notes://today`, with that text.
 */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { pixel } from '../pixel.ts';

const Input = z.looseObject({ name: z.string().optional() });
type Input = z.infer<typeof Input>;

const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      protocolVersion: z.string().optional(),
      name: z.string().optional(),
      uri: z.string().optional(),
      arguments: Input.optional(),
    })
    .optional(),
  result: z.unknown().optional(),
});
type Message = z.infer<typeof Message>;

const tools = [
  {
    name: 'greet',
    title: process.env['TITLE'],
    description: 'Greets somebody.',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
  {
    name: 'measure',
    description: 'Says how large its input is.',
    inputSchema: { type: 'object', properties: {} },
  },
  {
    name: 'register',
    description: 'Asks the user for their name.',
    inputSchema: { type: 'object', properties: {} },
  },
  {
    name: 'sign_in',
    description: 'Asks the user to sign in.',
    inputSchema: { type: 'object', properties: {} },
  },
  {
    name: 'show',
    description: 'Shows a picture, and more.',
    inputSchema: { type: 'object', properties: {} },
  },
];

const shown = [
  { type: 'text', text: 'A pixel, and more.' },
  { type: 'image', data: pixel, mimeType: 'image/png' },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'notes://1', mimeType: 'text/plain', text: 'A note.' } },
  { type: 'resource_link', uri: 'https://example.org/pixels', name: 'pixels', title: 'Pixels' },
];

/** The text of the server's only resource; undefined if the server has none. */
const note = process.env['NOTE'];
const resource = { uri: 'notes://today', name: 'today', title: 'Today', mimeType: 'text/plain' };

const questions: Record<string, object> = {
  register: {
    mode: 'form',
    message: 'Who are you?',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', description: 'As in your passport.' },
        size: { type: 'string', title: 'Size', enum: ['small', 'large'] },
        news: { type: 'boolean', title: 'News by mail', default: false },
      },
      required: ['name'],
    },
  },
  sign_in: {
    mode: 'url',
    message: 'Sign in, please.',
    url: 'https://example.org/sign-in?code=1234',
    elicitationId: 'sign-in-1',
  },
};

/** The functions that handle the answers to requests to the client, by the requests' ids. */
const asked = new Map<unknown, (result: unknown) => void>();

const send = (message: object): void => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));

function ask(params: object): Promise<unknown> {
  const id = `ask-${asked.size + 1}`;
  send({ id, method: 'elicitation/create', params });
  return new Promise((resolve) => asked.set(id, resolve));
}

async function call({ params }: Message): Promise<object> {
  if (params?.name === 'show') return { content: shown };
  return {
    content: [{ type: 'text', text: await answerOf(params?.name ?? '', params?.arguments) }],
  };
}

async function answerOf(tool: string, input: Input = {}): Promise<string> {
  const question = questions[tool];
  if (question !== undefined) return JSON.stringify(await ask(question));
  if (tool === 'measure') return `${JSON.stringify(input).length} characters.`;
  return `${process.env['GREETING'] ?? 'Hello'}, ${input.name ?? 'you'}!`;
}

async function answer(request: Message): Promise<object | undefined> {
  switch (request.method) {
    case 'initialize':
      return {
        protocolVersion: request.params?.protocolVersion,
        capabilities: { tools: {}, ...(note !== undefined && { resources: {} }) },
        serverInfo: { name: 'greeter', version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return call(request);
    case 'resources/list':
      return note === undefined ? undefined : { resources: [resource] };
    case 'resources/read':
      if (note === undefined || request.params?.uri !== resource.uri) return undefined;
      return { contents: [{ uri: resource.uri, mimeType: resource.mimeType, text: note }] };
    default:
      return undefined;
  }
}

async function respond(request: Message): Promise<void> {
  const result = await answer(request);
  const error = { code: -32601, message: `There is no ${request.method}.` };
  send({ id: request.id, ...(result ? { result } : { error }) });
}

for await (const line of createInterface(process.stdin)) {
  const message = Message.parse(JSON.parse(line));
  if (message.id === undefined) continue;
  // While the server waits for the user, it still answers other requests.
  if (message.method !== undefined) void respond(message);
  else asked.get(message.id)?.(message.result);
}
