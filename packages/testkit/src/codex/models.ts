const efforts = (...levels: string[]) =>
  levels.map((effort) => ({ effort, description: `Thinks at ${effort} effort` }));

const model = (slug: string, displayName: string, levels: string[]) => ({
  slug,
  display_name: displayName,
  description: `${displayName}, a model of the tests.`,
  default_reasoning_level: levels[0],
  supported_reasoning_levels: efforts(...levels),
  visibility: 'list',
  supported_in_api: true,
  priority: 1,
  base_instructions: 'You are scripted.',
  supports_reasoning_summaries: true,
  support_verbosity: false,
  // This setting gives the model `exec_command` and `write_stdin`, which current models have.
  shell_type: 'unified_exec',
  apply_patch_tool_type: 'freeform',
  truncation_policy: { mode: 'tokens', limit: 10_000 },
  supports_parallel_tool_calls: true,
  context_window: 100_000,
  experimental_supported_tools: [],
  input_modalities: ['text', 'image'],
});

/**
 * A catalog in the format of Codex's built-in catalog. One of its models has a choice of efforts, and the other has
 * none.
 */
export const scriptedModels = [
  model('scripted', 'Scripted', ['medium', 'low', 'high']),
  model('scripted-mini', 'Scripted Mini', ['low']),
];
