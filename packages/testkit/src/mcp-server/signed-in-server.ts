import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

export interface SignedInServer {
  /** The URL of the server's MCP endpoint. */
  url: string;
  close(): Promise<void>;
}

const Call = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
});

/**
 * Starts an MCP server over HTTP on loopback. The server answers only clients that have signed in by OAuth (with
 * registration and PKCE, as MCP's specification requires). The authorization page agrees at once. The server's only
 * tool is `greet`.
 */
export async function startSignedInServer(): Promise<SignedInServer> {
  const challenges = new Map<string, string>();
  const tokens = new Set<string>();
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const body = await text(request);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
      return void json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    }
    switch (pathname) {
      case '/.well-known/oauth-authorization-server':
        return void json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
        });
      case '/register': {
        const asked = JSON.parse(body) as object;
        const client = { client_id: randomUUID(), token_endpoint_auth_method: 'none' };
        return void json({ ...asked, ...client }, 201);
      }
      case '/authorize': {
        const code = randomUUID();
        challenges.set(code, searchParams.get('code_challenge') ?? '');
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        back.searchParams.set('code', code);
        back.searchParams.set('state', searchParams.get('state') ?? '');
        return void response.writeHead(302, { location: back.href }).end();
      }
      case '/token': {
        const asked = new URLSearchParams(body);
        const verifier = asked.get('code_verifier') ?? '';
        const challenge = createHash('sha256').update(verifier).digest('base64url');
        if (challenges.get(asked.get('code') ?? '') !== challenge) {
          return void json({ error: 'invalid_grant' }, 400);
        }
        const token = randomUUID();
        tokens.add(token);
        return void json({ access_token: token, token_type: 'Bearer', expires_in: 3600 });
      }
      case '/mcp': {
        const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
        if (!tokens.has(token)) {
          const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
          const challenge = `Bearer resource_metadata="${metadata}"`;
          return void response.writeHead(401, { 'www-authenticate': challenge }).end();
        }
        // The server offers no stream of messages from server to client.
        if (request.method !== 'POST') return void response.writeHead(405).end();
        const { id, method, params } = Call.parse(JSON.parse(body));
        if (id === undefined) return void response.writeHead(202).end();
        return void json({ jsonrpc: '2.0', id, result: answerTo(method, params?.protocolVersion) });
      }
      default:
        return void response.writeHead(404).end();
    }
  }

  return {
    url: `${origin}/mcp`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answerTo(method: string, protocolVersion = '2025-06-18'): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'door', version: '1.0.0' },
      };
    case 'tools/list':
      return { tools: [{ name: 'greet', inputSchema: { type: 'object', properties: {} } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'Hello!' }] };
    default:
      return {};
  }
}
