/** Whether a text is the address of something that is spoken to by HTTP. */
export function isHttpAddress(text: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
}
