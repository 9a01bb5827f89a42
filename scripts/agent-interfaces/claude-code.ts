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
      'They report the end of a turn, with the turn’s usage, cost and error.',
    ],
    [
      'used',
      'system/init system/status system/commands_changed',
      'They report the model, the mode, the commands, the state of MCP servers, and what the agent waits for.',
    ],
    ['shown', 'system/compact_boundary', 'The conversation was summarised.'],
    ['used', 'system/api_retry', 'Liminal withdraws the text of the attempt that failed.'],
    [
      'shown',
      'system/local_command_output system/informational system/notification',
      'They are messages for people.',
    ],
    [
      'shown',
      'system/model_refusal_fallback system/model_refusal_no_fallback',
      'The model refused to answer. The message reports whether another model answers.',
    ],
    ['shown', 'system/hook_response', 'A hook refused an action, or failed.'],
    [
      'passed by',
      'system/hook_started system/hook_progress',
      'The message at the end of the hook contains the result.',
    ],
    [
      'shown',
      'system/background_tasks_changed system/task_progress system/task_notification',
      'They report the background tasks, and how each task has ended.',
    ],
    ['used', 'system/task_started', 'It contains the id of the call that began a task.'],
    [
      'passed by',
      'system/task_updated',
      'The other messages about tasks contain the same information.',
    ],
    [
      'passed by',
      'system/thinking_tokens',
      'It reports an estimate while the model thinks. The usage at the end of the turn is exact.',
    ],
    [
      'passed by',
      'system/session_state_changed keep_alive',
      'They only report that the program is alive or idle.',
    ],
    [
      'used',
      'system/elicitation_complete',
      'A person has answered a form that was opened in the browser.',
    ],
    ['shown', 'rate_limit_event', 'It reports the limits of the account.'],
    [
      'passed by',
      'tool_progress',
      'It reports how many seconds a tool has run. Clients count these seconds themselves.',
    ],
    [
      'passed by',
      'tool_use_summary prompt_suggestion',
      'Claude Code sends them only on request, and Liminal does not request them.',
    ],
    ['passed by', 'auth_status', 'It is about a sign-in that only the SDK’s own hosts can begin.'],
    [
      'shown',
      'system/permission_denied',
      'Claude Code itself refused a call. The message contains the reason.',
    ],
    [
      'passed by',
      'system/files_persisted',
      'It is sent only where Claude Code runs on Anthropic’s servers.',
    ],
    ['shown', 'conversation_reset', '`/clear` has emptied the conversation.'],
    [
      'shown',
      'active_goal',
      'It reports the goal that `/goal` has set, and the progress towards the goal.',
    ],
    ['shown', 'system/memory_recall', 'It lists the memories that the model has received.'],
    ['shown', 'system/plugin_install', 'It reports a plugin that could not be installed.'],
    ['shown', 'system/worker_shutting_down', 'Another program than Liminal is ending the process.'],
    ['shown', 'system/mirror_error', 'A second copy of the session could not be written.'],
    [
      'shown',
      'system/session_writes_lost',
      'Lines are missing in Claude Code’s own store, for example because the disk was full.',
    ],
    [
      'kept',
      'system/control_request_progress',
      'It is about a request that Liminal never makes: a question that does not become part of the conversation.',
    ],
  ],
};

/** The requests in both directions: from Liminal to Claude Code, and from Claude Code to Liminal. */
export const claudeRequests: Section = {
  title: 'Claude Code: control requests',
  rows: [
    [
      'used',
      'initialize interrupt',
      '`initialize` begins a process, and `interrupt` stops a turn.',
    ],
    [
      'used',
      'set_model set_permission_mode set_max_thinking_tokens apply_flag_settings get_settings',
      'They read and change the settings of a session.',
    ],
    [
      'used',
      'can_use_tool elicitation',
      'Claude Code asks people for a permission, a choice, or the answers to a form.',
    ],
    [
      'used',
      'hook_callback',
      'Changed settings and skills of a project have no effect until the user has agreed.',
    ],
    ['used', 'rewind_files', 'The button *Restore files to before this turn* uses it.'],
    [
      'used',
      'cancel_async_message',
      'If a person stops the agent, messages that Claude Code has not read yet are withdrawn.',
    ],
    ['used', 'stop_task get_task_output', 'They stop a background task, and read its output.'],
    ['used', 'background_tasks', 'It sends a running command or subagent to the background.'],
    [
      'used',
      'mcp_status mcp_reconnect mcp_toggle',
      'They list and control the MCP servers of a session.',
    ],
    [
      'not used',
      'mcp_set_servers',
      'Liminal passes its MCP servers to the process when the process starts.',
    ],
    ['not used', 'mcp_call', 'The model, not Liminal, calls the tools of MCP servers.'],
    [
      'not used',
      'mcp_read_resource',
      'It reads only pages of MCP apps (`ui://`). If a message contains `@server:resource`, the model receives these words, and can read the resource with a tool.',
    ],
    ['not used', 'mcp_message', 'It is for MCP servers inside the host, and Liminal has none.'],
    ['used', 'rename_session', 'A session has the same title in Liminal and in Claude Code.'],
    ['not used', 'set_color', 'It sets the colour of a terminal.'],
    [
      'not used',
      'get_session_cost get_usage',
      'Claude Code reports usage and cost at the end of each turn. `/context`, `/cost` and `/usage` print further details.',
    ],
    [
      'not used',
      'list_models get_binary_version',
      'The answer at the start of a process contains both.',
    ],
    ['not used', 'file_suggestions read_file', 'Liminal reads the project folder itself.'],
    [
      'not used',
      'seed_read_state',
      'A host that removes messages itself must then correct what Claude Code remembers of files. Liminal lets Claude Code remove the messages.',
    ],
    ['not used', 'register_repo_root', 'A session has one project folder.'],
    [
      'not used',
      'reload_plugins reload_skills reload_output_styles',
      'Users can send the commands that have these names.',
    ],
    [
      'not used',
      'set_has_subscribers',
      'Without this request, Claude Code assumes that a person watches the session, and asks its questions.',
    ],
    [
      'used',
      'get_hooks_listing list_permission_rules get_context_usage',
      '*Status and setup* shows hooks, permission rules, skills and memory files.',
    ],
    [
      'not used',
      'update_settings',
      'Liminal does not change the user’s settings. If a permission is lasting, Claude Code itself saves it.',
    ],
    [
      'not used',
      'request_user_dialog',
      'These are dialogs of the terminal. If the host shows no dialogs, Claude Code uses text.',
    ],
  ],
};

export const claudeMethods: Section = {
  title: 'Claude Code: methods of a running query',
  rows: [
    [
      'used',
      'initializationResult interrupt close setModel setPermissionMode setMaxThinkingTokens getContextUsage applyFlagSettings rewindFiles stopTask backgroundTasks mcpServerStatus reconnectMcpServer toggleMcpServer',
      'They send the requests above.',
    ],
    [
      'not used',
      'supportedCommands supportedModels supportedAgents accountInfo reinitialize',
      'The first answer of the process contains everything that Liminal shows of these facts.',
    ],
    [
      'not used',
      'streamInput',
      'Liminal sends messages through the iterable that it passes to the query.',
    ],
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
      'They select the session, its settings, and the sources of the settings.',
    ],
    [
      'used',
      'allowDangerouslySkipPermissions',
      'It only makes the mode available in which Claude Code asks for no permission. The user must still choose this mode.',
    ],
    [
      'used',
      'pathToClaudeCodeExecutable spawnClaudeCodeProcess',
      'They select the program, and start it through a guard. The guard ends all processes that the program leaves running.',
    ],
    [
      'used',
      'canUseTool onElicitation hooks',
      'They receive questions to people, and changed settings of a project.',
    ],
    [
      'used',
      'toolConfig enableFileCheckpointing perTaskStopAffordance includeHookEvents',
      'In the terminal, these features are always on.',
    ],
    [
      'used',
      'includePartialMessages forwardSubagentText',
      'They stream text while it is written, including the text of subagents.',
    ],
    [
      'not used',
      'additionalDirectories',
      'Liminal adds folders in the running process (`apply_flag_settings`), because this option would also load the skills in these folders.',
    ],
    [
      'not used',
      'projectConfigRoot',
      'Claude Code reads the settings of a project from the session’s own folder.',
    ],
    [
      'not used',
      'agent agents skills plugins pluginDelivery settings sandbox strictMcpConfig',
      'Claude Code reads them from the user’s own settings, as in a terminal.',
    ],
    [
      'not used',
      'managedSettings',
      'Claude Code reads the settings of an organisation from the organisation’s own files.',
    ],
    [
      'not used',
      'allowedTools disallowedTools tools toolAliases',
      'Sessions have the same tools and rules as in a terminal.',
    ],
    [
      'not used',
      'thinking maxThinkingTokens',
      'Liminal sets thinking in the running process, where it can be changed later.',
    ],
    [
      'not used',
      'fallbackModel betas maxTurns maxBudgetUsd taskBudget outputFormat planModeInstructions verbatimPrompts',
      'With them, a session would behave differently than in a terminal.',
    ],
    [
      'not used',
      'continue forkSession resumeSessionAt resumeDropsTurn',
      'Liminal resumes a session by its id, and forks a session in Claude Code’s store.',
    ],
    [
      'not used',
      'persistSession sessionStore sessionStoreFlush loadTimeoutMs',
      'Claude Code stores its own transcript, so that a terminal can continue the session.',
    ],
    [
      'not used',
      'permissionPromptToolName permissionPrompts',
      'Claude Code asks for permissions through `canUseTool`.',
    ],
    ['not used', 'onUserDialog supportedDialogKinds', 'See `request_user_dialog`.'],
    [
      'not used',
      'promptSuggestions',
      'Each suggestion needs an additional request to the session’s model, after each turn except the first (measured). The request contains the whole conversation, most of it from the prompt cache. The terminal shows suggestions unless a setting forbids them. Liminal has no setting for suggestions yet.',
    ],
    [
      'not used',
      'agentProgressSummaries',
      'They need additional requests to the model, about two a minute for each subagent.',
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
      'It leaves out the messages before a compaction. Liminal reads the whole transcript.',
    ],
    ['used', 'renameSession', 'It changes the title of a session that is not running.'],
    [
      'not used',
      'archiveSession unarchiveSession deleteSession tagSession',
      'Liminal does not archive, delete or tag sessions in Claude Code’s own store.',
    ],
    [
      'not used',
      'startup prewarm',
      'Liminal starts a session’s process early, with all of its settings.',
    ],
    [
      'not used',
      'createSdkMcpServer tool',
      'Liminal’s MCP servers are other programs or have addresses; none runs inside Liminal.',
    ],
    [
      'not used',
      'resolveSettings filterEscalatingDefaultMode matchDeniedModels',
      'The running process reports which settings apply.',
    ],
    [
      'not used',
      'foldSessionSummary importSessionToStore',
      'They are for hosts with their own session store, and Liminal has none.',
    ],
  ],
};
