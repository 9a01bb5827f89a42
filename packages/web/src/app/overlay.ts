/** A layer in front of the page; there is one at a time. */
export type Overlay = 'new-session' | 'palette' | 'keys' | 'sidebar' | 'agent-sessions';
