/** An MCP server on standard input and output with one tool, `greet`, that greets in the words of `$GREETING`. */
import { createInterface } from 'node:readline';
import { z } from 'zod';

const Request = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z
    .looseObject({
      protocolVersion: z.string().optional(),
      arguments: z.looseObject({ name: z.string() }).optional(),
    })
    .optional(),
});
type Request = z.infer<typeof Request>;

const greet = {
  name: 'greet',
  description: 'Greets somebody.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

function answer({ method, params }: Request): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'greeter', version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: [greet] };
    case 'tools/call': {
      const text = `${process.env['GREETING'] ?? 'Hello'}, ${params?.arguments?.name ?? 'you'}!`;
      return { content: [{ type: 'text', text }] };
    }
    default:
      return undefined;
  }
}

for await (const line of createInterface(process.stdin)) {
  const request = Request.parse(JSON.parse(line));
  if (request.id === undefined) continue;
  const result = answer(request);
  const error = { code: -32601, message: `There is no ${request.method}.` };
  const { id } = request;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
}
