/** The first bytes of those image formats that browsers show; regular expressions over hexadecimal digits. */
const beginnings: [string, string][] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['474946383[79]61', 'image/gif'],
  ['52494646.{8}57454250', 'image/webp'],
  ['.{8}6674797061766966', 'image/avif'],
  ['424d.{8}00000000', 'image/bmp'],
  ['00000100..00', 'image/x-icon'],
];

/** Returns the MIME type of an image, by its first bytes; undefined for anything else. */
export function imageType(bytes: Uint8Array): string | undefined {
  const hex = [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return beginnings.find(([beginning]) => new RegExp(`^${beginning}`).test(hex))?.[1];
}
