/** What Liminal does with each name that Claude Code's SDK declares. */
import type { Section } from './row.ts';

export const claudeMessages: Section = {
  title: 'Claude Code: messages',
  rows: [
    [
      'shown',
      'assistant user stream_event',
      'They are the conversation: text, reasoning, tool calls and their results.',
    ],
    [
      'used',
      'result/success result/error_during_execution result/error_max_turns result/error_max_budget_usd result/error_max_structured_output_retries',
      'They end a turn, with its usage, its cost and its error.',
    ],
    [
      'used',
      'system/init system/status system/commands_changed',
      'They give the model, the mode, the commands, the state of MCP servers, and what the agent waits for.',
    ],
    ['shown', 'system/compact_boundary', 'The conversation was summarised.'],
    ['used', 'system/api_retry', 'The text of the attempt that failed is withdrawn.'],
    [
      'shown',
      'system/local_command_output system/informational system/notification',
      'Messages for people.',
    ],
    [
      'shown',
      'system/model_refusal_fallback system/model_refusal_no_fallback',
      'The model refused; another one answers, or none.',
    ],
    ['shown', 'system/hook_response', 'A hook’s refusal, or why it failed.'],
    [
      'passed by',
      'system/hook_started system/hook_progress',
      'The message at the end of the hook has the result.',
    ],
    [
      'shown',
      'system/background_tasks_changed system/task_progress system/task_notification',
      'The tasks in the background, and how each has ended.',
    ],
    ['used', 'system/task_started', 'It names the call that began a task.'],
    ['passed by', 'system/task_updated', 'The other messages about tasks say the same.'],
    [
      'passed by',
      'system/thinking_tokens',
      'A count while the model thinks; the usage at the end of the turn is exact.',
    ],
    [
      'passed by',
      'system/session_state_changed keep_alive',
      'They only report that the program is alive or idle.',
    ],
    ['used', 'system/elicitation_complete', 'A form that was opened in the browser is answered.'],
    ['shown', 'rate_limit_event', 'The limits of the account.'],
    ['passed by', 'tool_progress', 'The seconds that a tool has run: clients count them.'],
    [
      'passed by',
      'tool_use_summary prompt_suggestion',
      'They come only on request, and Liminal does not ask for them.',
    ],
    ['passed by', 'auth_status', 'It belongs to a sign-in that only the SDK’s own hosts begin.'],
    ['shown', 'system/permission_denied', 'A call that Claude Code refused by itself, and why.'],
    [
      'passed by',
      'system/files_persisted',
      'It is sent only where Claude Code runs on Anthropic’s servers.',
    ],
    ['shown', 'conversation_reset', '`/clear` has emptied the conversation.'],
    ['shown', 'active_goal', 'The goal that `/goal` has set, and how far it is.'],
    ['shown', 'system/memory_recall', 'The memories that the model was given.'],
    ['shown', 'system/plugin_install', 'A plugin that was not installed.'],
    ['shown', 'system/worker_shutting_down', 'The process is being ended from outside Liminal.'],
    ['shown', 'system/mirror_error', 'A second copy of the session could not be written.'],
    [
      'shown',
      'system/session_writes_lost',
      'Claude Code’s own store lacks lines, for example because the disk was full.',
    ],
    [
      'kept',
      'system/control_request_progress',
      'It is about a request for an answer beside the conversation, which Liminal never makes.',
    ],
  ],
};

/** The requests in both directions: from Liminal to Claude Code, and from Claude Code to Liminal. */
export const claudeRequests: Section = {
  title: 'Claude Code: control requests',
  rows: [
    ['used', 'initialize interrupt', 'They begin a process, and stop a turn.'],
    [
      'used',
      'set_model set_permission_mode set_max_thinking_tokens apply_flag_settings get_settings',
      'The settings of a session.',
    ],
    [
      'used',
      'can_use_tool elicitation',
      'Claude Code asks people: for permission, for a choice, for a form.',
    ],
    [
      'used',
      'hook_callback',
      'Changed settings and skills of a project wait for the user’s agreement.',
    ],
    ['used', 'rewind_files', '*Restore files to before this turn*.'],
    ['used', 'cancel_async_message', 'A stop also withdraws what Claude Code has not read.'],
    ['used', 'stop_task get_task_output', 'Background tasks: stop, and output.'],
    ['used', 'background_tasks', 'A running command or subagent goes to the background.'],
    ['used', 'mcp_status mcp_reconnect mcp_toggle', 'The MCP servers of a session.'],
    ['not used', 'mcp_set_servers', 'Liminal gives its MCP servers at the start of the process.'],
    ['not used', 'mcp_call', 'The model, not Liminal, calls the tools of MCP servers.'],
    [
      'not used',
      'mcp_read_resource',
      'It reads only pages of MCP apps (`ui://`). A message with `@server:resource` reaches the model as words; the model can read the resource by a tool.',
    ],
    ['not used', 'mcp_message', 'It serves MCP servers inside the host, and Liminal has none.'],
    ['used', 'rename_session', 'A session has one title in Liminal and in Claude Code.'],
    ['not used', 'set_color', 'The colour of a terminal.'],
    [
      'not used',
      'get_session_cost get_usage',
      'Usage and cost come at the end of each turn; `/context`, `/cost` and `/usage` print the rest.',
    ],
    [
      'not used',
      'list_models get_binary_version',
      'The answer at the start of a process has both.',
    ],
    ['not used', 'file_suggestions read_file', 'Liminal reads the project folder itself.'],
    [
      'not used',
      'seed_read_state',
      'It corrects Claude Code’s memory of files after a host has removed messages itself; Liminal lets Claude Code do that.',
    ],
    ['not used', 'register_repo_root', 'A session has one project folder.'],
    [
      'not used',
      'reload_plugins reload_skills reload_output_styles',
      'The commands of the same names do it.',
    ],
    [
      'not used',
      'set_has_subscribers',
      'Without it Claude Code assumes that somebody watches the session, and asks its questions.',
    ],
    [
      'used',
      'get_hooks_listing list_permission_rules get_context_usage',
      '*Status and setup*: hooks, permission rules, skills and memory files.',
    ],
    [
      'not used',
      'update_settings',
      'Liminal does not change the user’s settings; Claude Code saves a lasting permission.',
    ],
    [
      'not used',
      'request_user_dialog',
      'Dialogs of the terminal: Claude Code uses text if the host has none.',
    ],
  ],
};

export const claudeMethods: Section = {
  title: 'Claude Code: methods of a running query',
  rows: [
    [
      'used',
      'initializationResult interrupt close setModel setPermissionMode setMaxThinkingTokens getContextUsage applyFlagSettings rewindFiles stopTask backgroundTasks mcpServerStatus reconnectMcpServer toggleMcpServer',
      'The requests above.',
    ],
    [
      'not used',
      'supportedCommands supportedModels supportedAgents accountInfo reinitialize',
      'The first answer of the process has everything that Liminal shows of them.',
    ],
    ['not used', 'streamInput', 'Messages go through the iterable that the query was given.'],
    [
      'not used',
      'setMcpServers readMcpResource setMcpPermissionModeOverride',
      'See the requests whose names begin with `mcp_`.',
    ],
    ['not used', 'usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET', 'See `get_usage`.'],
    [
      'not used',
      'readFile seedReadState reloadPlugins reloadSkills reloadOutputStyles updateSettings',
      'See the requests of the same names.',
    ],
  ],
};

export const claudeOptions: Section = {
  title: 'Claude Code: options of a query',
  rows: [
    [
      'used',
      'cwd env resume sessionId model permissionMode effort systemPrompt settingSources mcpServers mcpServersDelivery',
      'The session, its settings, and where they come from.',
    ],
    [
      'used',
      'allowDangerouslySkipPermissions',
      'It only makes the mode available that asks nothing; the user still has to choose it.',
    ],
    [
      'used',
      'pathToClaudeCodeExecutable spawnClaudeCodeProcess',
      'The program, and its start below a guard that ends everything that it leaves running.',
    ],
    [
      'used',
      'canUseTool onElicitation hooks',
      'Questions to people, and changed settings of a project.',
    ],
    [
      'used',
      'toolConfig enableFileCheckpointing perTaskStopAffordance includeHookEvents',
      'The terminal has these without an option.',
    ],
    [
      'used',
      'includePartialMessages forwardSubagentText',
      'Text while it is written, also that of subagents.',
    ],
    [
      'not used',
      'additionalDirectories',
      'Folders are added in the running process (`apply_flag_settings`): this option would also use the skills of these folders.',
    ],
    ['not used', 'projectConfigRoot', 'Settings of a project come from the session’s own folder.'],
    [
      'not used',
      'agent agents skills plugins pluginDelivery settings sandbox strictMcpConfig',
      'They come from the user’s own settings, as in a terminal.',
    ],
    ['not used', 'managedSettings', 'Settings of an organisation come from its own files.'],
    [
      'not used',
      'allowedTools disallowedTools tools toolAliases',
      'The tools and rules are those of the terminal.',
    ],
    [
      'not used',
      'thinking maxThinkingTokens',
      'Thinking is set in the running process, so that it can be set again.',
    ],
    [
      'not used',
      'fallbackModel betas maxTurns maxBudgetUsd taskBudget outputFormat planModeInstructions verbatimPrompts',
      'They differ from what a terminal does.',
    ],
    [
      'not used',
      'continue forkSession resumeSessionAt resumeDropsTurn',
      'A session is resumed by its id, and forked in its store.',
    ],
    [
      'not used',
      'persistSession sessionStore sessionStoreFlush loadTimeoutMs',
      'Claude Code keeps its own transcript, so that a terminal can continue the session.',
    ],
    [
      'not used',
      'permissionPromptToolName permissionPrompts',
      'Permissions are asked through `canUseTool`.',
    ],
    ['not used', 'onUserDialog supportedDialogKinds', 'See `request_user_dialog`.'],
    [
      'not used',
      'promptSuggestions',
      'Each suggestion is one more request to the session’s model after each turn but the first (measured), with the whole conversation, most of it from the prompt cache. The terminal suggests unless a setting says otherwise. A choice that is off at first is not built yet.',
    ],
    [
      'not used',
      'agentProgressSummaries',
      'They cost requests of their own, about two a minute for each subagent.',
    ],
    ['not used', 'title', 'Claude Code makes its own title.'],
    [
      'not used',
      'abortController executable executableArgs extraArgs stderr debug debugFile',
      'Liminal starts, watches and ends the program itself.',
    ],
  ],
};

export const claudeFunctions: Section = {
  title: 'Claude Code: functions of the SDK',
  rows: [
    [
      'used',
      'query listSessions getSessionInfo listSubagents getSubagentMessages forkSession',
      'They run a session, find and fork stored sessions, and read the messages of subagents.',
    ],
    [
      'not used',
      'getSessionMessages',
      'It leaves out what came before a compaction; Liminal reads the transcript whole.',
    ],
    ['used', 'renameSession', 'The title of a session that is not running.'],
    [
      'not used',
      'archiveSession unarchiveSession deleteSession tagSession',
      'Liminal leaves Claude Code’s own store alone.',
    ],
    [
      'not used',
      'startup prewarm',
      'Liminal starts a session’s process early, with all of its settings.',
    ],
    ['not used', 'createSdkMcpServer tool', 'Liminal’s MCP servers are programs and addresses.'],
    [
      'not used',
      'resolveSettings filterEscalatingDefaultMode matchDeniedModels',
      'The running process says which settings are in force.',
    ],
    [
      'not used',
      'foldSessionSummary importSessionToStore',
      'They are for a session store of the host, and Liminal has none.',
    ],
  ],
};
