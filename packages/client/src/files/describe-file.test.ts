import { describe, expect, it } from 'vitest';
import { describeFile } from './describe-file.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const bytes = (text: string) => new TextEncoder().encode(text);
const binary = Buffer.from([0, 1, 2, 3]);

describe('a file becomes', () => {
  it.each([
    ['an image by its content', 'image', 'image/png', '', png],
    ['an image, whatever its name says', 'image', 'image/png', 'text/plain', png],
    [
      'a file where it only claims to be an image',
      'resource',
      'application/octet-stream',
      'image/png',
      binary,
    ],
    ['an image of a kind that is not looked into', 'image', 'image/heic', 'image/heic', binary],
    ['audio by its type', 'audio', 'audio/mpeg', 'audio/mpeg', binary],
    [
      'text with its type',
      'resource',
      'text/markdown',
      'text/markdown; charset=utf-8',
      bytes('# Ä'),
    ],
    [
      'text, where a program is taken for a film',
      'resource',
      'text/plain',
      'video/mp2t',
      bytes('let a'),
    ],
    [
      'text, where an image is written as one',
      'resource',
      'text/plain',
      'image/svg+xml',
      bytes('<svg/>'),
    ],
    [
      'no text, where its bytes are none',
      'resource',
      'application/octet-stream',
      'text/plain',
      binary,
    ],
    ['a PDF, also one of letters alone', 'resource', 'application/pdf', '', bytes('%PDF-1.4 x')],
    ['any other file by its type', 'resource', 'application/zip', 'application/zip', binary],
    ['an unknown file without one', 'resource', 'application/octet-stream', '', binary],
  ] as const)('%s', (_, kind, mimeType, type, content) => {
    const block = describeFile({ name: 'a', type, bytes: content }, 'local:1');
    const described = { mimeType, uri: 'local:1', name: 'a', size: content.length };
    expect(block).toEqual(
      kind === 'resource' ? { type: kind, resource: described } : { type: kind, ...described },
    );
  });
});
