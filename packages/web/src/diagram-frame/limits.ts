/** A larger diagram (characters, lines, edges) is not drawn. */
export const limits = { characters: 8000, lines: 150, edges: 50 };
