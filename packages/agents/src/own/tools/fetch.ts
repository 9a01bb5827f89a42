import { headOf } from '@liminal/protocol';
import { z } from 'zod';
import { pageText } from './fetch/page-text.ts';
import { get, webAddress, type FetchResponse, type RequestOptions } from './fetch/request.ts';
import type { Tool, ToolResult } from './tool.ts';
import { ToolError } from './tool-error.ts';

const maxRedirects = 5;
/** The time limit for all redirects together, in ms. */
const timeLimit = 30_000;
/** The most characters of a page that the model gets. */
const maxLength = 100_000;

const Input = z.object({
  url: z.string().min(1).max(4_000).describe('An address that begins with https:// or http://.'),
});

/** Returns a tool that fetches pages of the public internet. */
export function fetchTool(options: RequestOptions = {}): Tool<z.infer<typeof Input>> {
  return {
    name: 'fetch',
    description:
      'Fetches a page or a text from the public internet (GET). HTML comes as plain text. A redirect to another host is named, not followed.',
    kind: 'fetch',
    input: Input,
    describe: async ({ url }) => ({ title: `Fetch ${webAddress(url).href}` }),
    needs({ url }) {
      const host = URL.parse(url)?.host ?? '';
      return [{ always: `requests to ${host}`, rule: `fetch:${host}`, also: ['tool:fetch'] }];
    },
    async run({ url }, { signal }) {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeLimit)]);
      let at = webAddress(url);
      for (let redirects = 0; ; redirects += 1) {
        const answer = await get(at, inTime, options);
        if (answer.location === undefined) return pageResult(answer, at, signal);
        const next = webAddress(answer.location, at);
        // The permission is for this host, not for a host to which it redirects.
        if (next.host !== at.host) {
          return { output: `${at.href} leads to ${next.href}: fetch that.`, success: true };
        }
        if (redirects === maxRedirects) throw new ToolError(`${url} redirects too often.`);
        at = next;
      }
    },
  };
}

async function pageResult(
  { status, contentType, body, isCut }: FetchResponse,
  { href }: URL,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { mime, charset } = mediaType(contentType);
  const head = body.subarray(0, 8_192);
  const isText = /^(text\/|$)|[/+](json|xml|javascript|x-javascript|yaml|x-yaml|toml)$/.test(mime);
  if (!isText || head.includes(0)) {
    throw new ToolError(
      `${href} is not text (${mime || 'of an unknown kind'}, ${body.length} bytes).`,
    );
  }
  const text = decode(body, charset);
  const isHtml = mime === 'text/html' || mime === 'application/xhtml+xml';
  const page = isHtml ? await pageText(text, signal) : { text, isCut: false };
  const isLong = isCut || page.isCut || page.text.length > maxLength;
  const output = [
    ...(status === 200 ? [] : [`(status ${status})`]),
    headOf(page.text, maxLength) || '(The page has no text.)',
    ...(isLong ? ['(The rest is left out.)'] : []),
  ].join('\n');
  return { output, success: status < 400 };
}

function mediaType(contentType: string): { mime: string; charset: string } {
  const [mime = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((one) => one.startsWith('charset='))?.slice('charset='.length);
  return { mime, charset: charset?.replaceAll(/["']/g, '').trim() ?? 'utf-8' };
}

function decode(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
