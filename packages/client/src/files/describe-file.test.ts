import { describe, expect, it } from 'vitest';
import { describeFile } from './describe-file.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const bytes = (text: string) => new TextEncoder().encode(text);
const binary = Buffer.from([0, 1, 2, 3]);

describe('a file becomes', () => {
  it.each([
    ['an image by its content', 'image', 'image/png', '', png],
    ['an image by its content, despite another type', 'image', 'image/png', 'text/plain', png],
    [
      'a file if only its type is that of an image',
      'resource',
      'application/octet-stream',
      'image/png',
      binary,
    ],
    [
      'an image of a type whose content is not checked',
      'image',
      'image/heic',
      'image/heic',
      binary,
    ],
    ['audio by its type', 'audio', 'audio/mpeg', 'audio/mpeg', binary],
    [
      'text with its type',
      'resource',
      'text/markdown',
      'text/markdown; charset=utf-8',
      bytes('# Ä'),
    ],
    [
      'text, if the type of a program is video',
      'resource',
      'text/plain',
      'video/mp2t',
      bytes('let a'),
    ],
    [
      'text, if an image is written as text',
      'resource',
      'text/plain',
      'image/svg+xml',
      bytes('<svg/>'),
    ],
    [
      'not text, if its bytes are not text',
      'resource',
      'application/octet-stream',
      'text/plain',
      binary,
    ],
    ['a PDF, even with only letters', 'resource', 'application/pdf', '', bytes('%PDF-1.4 x')],
    ['any other file by its type', 'resource', 'application/zip', 'application/zip', binary],
    ['an unknown file without a type', 'resource', 'application/octet-stream', '', binary],
  ] as const)('a file becomes a block: %s', (_, kind, mimeType, type, content) => {
    const block = describeFile({ name: 'a', type, bytes: content }, 'local:1');
    const described = { mimeType, uri: 'local:1', name: 'a', size: content.length };
    expect(block).toEqual(
      kind === 'resource' ? { type: kind, resource: described } : { type: kind, ...described },
    );
  });
});
