/** Returns the strings of a stored JSON array; empty for any other value. */
export function readTexts(stored: string | null): string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}
