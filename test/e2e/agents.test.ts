// The files run one after the other on one stage, in the same browser pages, and some tests use the same session.
import './claude-turns.ts';
import './files.ts';
import './codex.ts';
import './demo.ts';
import './claude-durable.ts';
import './sessions.ts';
import './editor.ts';
