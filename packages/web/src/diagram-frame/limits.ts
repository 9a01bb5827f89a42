/** The limits in characters, lines and edges. A larger diagram is not drawn. */
export const limits = { characters: 8000, lines: 150, edges: 50 };
