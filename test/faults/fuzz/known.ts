/** Usual values of text fields in the operations and in ACP. `FuzzStage.fill` replaces the placeholders. */
import fc from 'fast-check';
import { agentTypes } from './stage.ts';

/** Generates a placeholder for an existing object. Its number is taken modulo the number of such objects. */
const mark = (name: string) => fc.nat({ max: 5 }).map((number) => `<${name} ${number}>`);

const turn = fc.oneof({ weight: 3, arbitrary: mark('turn') }, fc.uuid());
const folder = fc.oneof(
  { weight: 6, arbitrary: mark('project') },
  fc.constantFrom('/', '/etc', '/none', 'relative', '..'),
);
const words = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('explain', 'ask', 'hold', 'work', 'approve', 'error') },
  fc.string({ unit: 'grapheme', minLength: 1 }),
);

export const marks = {
  session: mark('session'),
  turn,
  approval: mark('approval'),
  blob: mark('blob'),
};

export const known: Readonly<Record<string, fc.Arbitrary<string>>> = {
  sessionId: mark('session'),
  turnId: turn,
  messageId: turn,
  before: fc.oneof(mark('cursor'), turn),
  cursor: mark('cursor'),
  projectDir: folder,
  projectId: folder,
  cwd: folder,
  prefix: folder,
  cliType: fc.constantFrom(...agentTypes, 'none'),
  message: words,
  text: words,
  q: words,
  path: fc.constantFrom('a.txt', '.', '../..', '<project 0>/a.txt', '/etc/passwd'),
  optionId: fc.constantFrom('yes', 'no', 'allow', 'reject', 'cancel'),
  id: fc.constantFrom('pace', 'mode'),
  configId: fc.constantFrom('pace', 'mode'),
  value: fc.constantFrom('instant', 'normal', 'none'),
  uri: fc.constantFrom('blob:<blob 0>', 'file://<project 0>/a.txt', 'https://127.0.0.1:1/', 'x'),
  mimeType: fc.constantFrom('image/png', 'text/plain', 'audio/wav', 'application/pdf', 'x'),
  data: fc.constantFrom('iVBORw0KGgo=', 'aGVsbG8=', '=', 'ä', ''),
  // The server really starts these programs.
  command: fc.constantFrom('false', 'true', '/none', 'cat'),
};
