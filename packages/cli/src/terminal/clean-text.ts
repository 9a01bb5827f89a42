import { markHidden } from '@liminal/protocol';

/**
 * Complete escape sequences (ECMA-48): CSI, sequences that contain a text up to a terminator (OSC, DCS, SOS, PM, APC),
 * and sequences of one letter, in this order. An incomplete escape sequence could be ordinary text, so it stays
 * visible.
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
 * Returns the text in a form that cannot control a terminal or change the direction of writing. Complete escape
 * sequences, such as colours, are removed; other hidden characters are shown as `‹U+202E›`. If hidden text must stay
 * visible, as in permission requests, call `markHidden` first.
 */
export function cleanText(text: string): string {
  return markHidden(text.replaceAll(sequences, '').replaceAll(/(?<!\r)\r+\n/g, '\n'));
}
