import { markHidden } from '@liminal/protocol';

/**
 * Escape sequences (ECMA-48) that are whole: CSI, then what carries a text to its terminator (OSC, DCS, SOS, PM, APC),
 * then those of one letter. A sequence that is cut off could be anything, and is shown.
 */
const sequences = new RegExp(
  [
    String.raw`(?:\u001B\[|\u009B)[0-?]*[ -\/]*[@-~]`,
    String.raw`(?:\u001B[\]PX^_]|[\u009D\u0090\u0098\u009E\u009F])[^\p{Cc}]*(?:\u0007|\u001B\\|\u009C)`,
    String.raw`\u001B[ -\/]*[0-OQ-WYZ\\\u0060-~]`,
  ].join('|'),
  'gu',
);

/**
 * Text for a terminal: none of it steers the terminal or turns the direction of writing. Whole escape sequences, such as
 * colours, are left out; what else is hidden is shown as `‹U+202E›`. Where hidden text must not be left out, as in what
 * somebody is asked to allow, `markHidden` comes first.
 */
export function cleanText(text: string): string {
  return markHidden(text.replaceAll(sequences, '').replaceAll(/\r+\n/g, '\n'));
}
