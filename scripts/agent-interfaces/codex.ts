/** What Liminal does with each name that Codex's app-server declares. */
import type { Section } from './row.ts';

export const codexRequests: Section = {
  title: 'Codex: requests',
  rows: [
    ['used', 'initialize initialized', 'They begin the process.'],
    [
      'used',
      'thread/start thread/resume thread/fork thread/unsubscribe thread/list thread/turns/list',
      'They create, open, fork, close and list sessions, and read their history.',
    ],
    [
      'used',
      'turn/start turn/steer turn/interrupt review/start thread/compact/start',
      'They send messages and commands.',
    ],
    [
      'used',
      'thread/settings/update model/list collaborationMode/list config/read',
      'They read and change the settings of a session.',
    ],
    [
      'used',
      'thread/backgroundTerminals/clean thread/backgroundTerminals/terminate',
      'They end what a turn or a session leaves running.',
    ],
    [
      'used',
      'skills/list hooks/list',
      'Liminal offers skills as commands, and reports hooks that Codex does not run.',
    ],
    [
      'used',
      'account/read account/rateLimits/read',
      'They report whether Codex is signed in, and the limits of the account.',
    ],
    [
      'used',
      'thread/shellCommand',
      'It runs a message that begins with `!`, which is a person’s own command.',
    ],
    [
      'used',
      'thread/prepareApprovedPlan fs/writeFile fs/createDirectory',
      'They implement a plan in a new thread of the session. The thread reads the plan from a file.',
    ],
    [
      'used',
      'mcpServerStatus/list mcpServer/oauth/login',
      'They list the MCP servers of a session, and sign in to a server.',
    ],
    ['used', 'permissionProfile/list', '*Status and setup* shows permission profiles.'],
    [
      'used',
      'thread/sample',
      'It asks the model a question that does not become part of the conversation.',
    ],
    [
      'not used',
      'config/mcpServer/reload',
      'It would affect all threads at once. A session that is started again reads the configuration again.',
    ],
    [
      'not used',
      'mcpServer/resource/read mcpServer/tool/call mcpServer/event/stream/start mcpServer/event/stream/stop',
      'The model uses MCP servers, not Liminal.',
    ],
    ['used', 'thread/revert', 'It takes a conversation back to the state before a message.'],
    ['used', 'thread/goal/get', 'It reads the goal that a thread has when it is opened.'],
    ['not used', 'thread/goal/set thread/goal/clear', 'Goals are set in Codex’ own terminal.'],
    [
      'not used',
      'thread/backgroundTerminals/list',
      'Notifications report which commands are running.',
    ],
    ['not used', 'turn/settings/update', 'Liminal changes settings only between turns.'],
    ['used', 'thread/name/set', 'A session has the same title in Liminal and in Codex.'],
    [
      'not used',
      'thread/archive thread/unarchive thread/delete thread/metadata/update thread/readState/update',
      'Liminal has its own archive and its own marks for unread sessions, and does not change those of Codex.',
    ],
    [
      'not used',
      'thread/attachment/add thread/attachment/list thread/attachmentOwner/list thread/attachment/remove thread/section/move threadSection/list threadSection/create threadSection/update threadSection/delete project/list project/read project/create project/import project/update project/move project/delete',
      'They are Codex’ own way to group threads. Liminal groups sessions by their folders.',
    ],
    [
      'not used',
      'thread/queue/add thread/queue/list thread/queue/update thread/queue/delete thread/queue/reorder thread/queue/start',
      'Liminal has its own queue, which still exists after the process has ended.',
    ],
    [
      'not used',
      'thread/read thread/items/list thread/items/read thread/timeline/list thread/loaded/list getConversationSummary rollout/compress',
      '`thread/turns/list` returns the same history.',
    ],
    [
      'not used',
      'thread/search thread/searchOccurrences thread/search/stream thread/search/cancel thread/search/stream/cancel',
      'Liminal searches its own log.',
    ],
    [
      'not used',
      'thread/inject_items thread/sample/cancel thread/prediction/request',
      'They are for requests to the model that do not become part of the conversation.',
    ],
    [
      'not used',
      'thread/increment_elicitation thread/decrement_elicitation',
      'Codex itself counts its open questions.',
    ],
    [
      'not used',
      'thread/approveGuardianDeniedAction thread/guardianReview',
      'Liminal shows the reviewer’s verdict. People cannot overrule the verdict in Liminal yet.',
    ],
    [
      'not used',
      'thread/memoryMode/set thread/memory/read memory/status memory/reset',
      'Codex’ own configuration controls its memories.',
    ],
    [
      'not used',
      'thread/realtime/start thread/realtime/appendAudio thread/realtime/appendText thread/realtime/appendSpeech thread/realtime/stop thread/realtime/list thread/realtime/listVoices',
      'Liminal does not support speech.',
    ],
    [
      'not used',
      'skills/extraRoots/set skills/config/write marketplace/add marketplace/remove marketplace/upgrade plugin/list plugin/search plugin/installed plugin/reconcile plugin/read plugin/skill/read plugin/share/save plugin/share/updateTargets plugin/share/list plugin/share/checkout plugin/share/delete plugin/install plugin/uninstall app/read app/list app/installed',
      'Skills, plugins and apps are set up in Codex itself; sessions in Liminal use them.',
    ],
    [
      'not used',
      'config/value/write config/batchWrite configRequirements/read modelProvider/list modelProvider/default/set modelProvider/config/write modelProvider/capabilities/read experimentalFeature/list experimentalFeature/enablement/set',
      'Liminal does not change Codex’ configuration. Settings in Liminal apply to one session.',
    ],
    [
      'not used',
      'account/login/start account/login/cancel account/logout accountSession/list accountSession/switch account/gatewayOAuth/read account/gatewayOAuth/login account/gatewayOAuth/cancel account/bedrock/discover account/bedrock/setup account/bedrock/checkGovCloudRequirements account/gcp/setup account/securitySetup/read getAuthStatus userVerification/status userVerification/enroll userVerification/delete userVerification/verify userVerification/cancel',
      'You sign in with `codex login`, in a terminal.',
    ],
    [
      'not used',
      'account/rateLimitResetCredit/consume account/usage/read account/workspaceMessages/read account/sendAddCreditsNudgeEmail',
      'People manage the account where they created it.',
    ],
    [
      'not used',
      'fs/readFile fs/getMetadata fs/readDirectory fs/remove fs/copy fs/watch fs/unwatch fuzzyFileSearch fuzzyFileSearch/sessionStart fuzzyFileSearch/sessionUpdate fuzzyFileSearch/sessionStop gitDiffToRemote',
      'Liminal reads the project folder itself.',
    ],
    [
      'not used',
      'command/exec command/exec/write command/exec/terminate command/exec/resize process/spawn process/writeStdin process/kill process/resizePty',
      'They run programs outside the conversation.',
    ],
    [
      'not used',
      'environment/add environment/info environment/status remoteControl/enable remoteControl/disable remoteControl/status/read remoteControl/pairing/start remoteControl/pairing/status remoteControl/client/list remoteControl/client/revoke',
      'Codex runs on the same machine as Liminal, and clients connect to Liminal.',
    ],
    [
      'not used',
      'externalAgentConfig/detect externalAgentConfig/import externalAgentConfig/import/recordHistory externalAgentConfig/import/readHistories',
      'They import settings of other agents into Codex.',
    ],
    [
      'not used',
      'windowsSandbox/setupStart windowsSandbox/readiness',
      'They exist only for Windows.',
    ],
    [
      'not used',
      'feedback/upload feedback/save server/diagnostics mock/experimentalMethod',
      'They are for the makers of Codex.',
    ],
  ],
};

export const codexNotifications: Section = {
  title: 'Codex: notifications',
  rows: [
    [
      'shown',
      'item/started item/completed item/agentMessage/delta item/plan/delta item/reasoning/textDelta item/reasoning/summaryTextDelta item/commandExecution/outputDelta',
      'They are the conversation.',
    ],
    ['shown', 'turn/plan/updated turn/diff/updated', 'They report the plan and the changed files.'],
    [
      'used',
      'turn/started turn/completed thread/tokenUsage/updated',
      'They report turns and their usage.',
    ],
    [
      'shown',
      'error',
      'An attempt has failed, and Liminal withdraws its text, or the turn has failed.',
    ],
    [
      'shown',
      'item/mcpToolCall/progress hook/started hook/completed',
      'They report what the agent waits for, and the output of hooks.',
    ],
    [
      'shown',
      'item/autoApprovalReview/completed model/rerouted modelProvider/authRecoveryStarted modelProvider/authRecoveryCompleted',
      'They are messages for people, shown in the turn.',
    ],
    [
      'shown',
      'warning guardianWarning configWarning deprecationNotice mcpServer/startupStatus/updated',
      'They are shown as notices of the session.',
    ],
    [
      'used',
      'thread/name/updated thread/settings/updated skills/changed account/rateLimits/updated',
      'They report the title, the settings, the commands, and the limits of the account.',
    ],
    ['used', 'serverRequest/resolved', 'It reports that a question is no longer open.'],
    [
      'used',
      'thread/closed',
      'It reports that a thread is closed; the thread can be opened again.',
    ],
    [
      'passed by',
      'thread/started thread/status/changed',
      'The answers to requests, and the notifications about turns, contain the same information.',
    ],
    [
      'passed by',
      'item/reasoning/summaryPartAdded thread/compacted rawResponseItem/completed rawResponse/completed',
      'An item contains the same information.',
    ],
    ['passed by', 'item/fileChange/outputDelta', 'The end of the item contains the whole change.'],
    [
      'shown',
      'item/fileChange/patchUpdated',
      'It reports a change of files while the model is writing it.',
    ],
    [
      'shown',
      'item/commandExecution/terminalInteraction',
      'It reports the input that the model writes to a running command.',
    ],
    ['shown', 'item/autoApprovalReview/started', 'The session waits for a review.'],
    [
      'passed by',
      'autoApprovalReview/strictReviewRequired',
      'Liminal shows the verdict of the review instead.',
    ],
    ['shown', 'model/verification', 'It is shown as a notice.'],
    ['shown', 'model/safetyBuffering/updated', 'The session waits for a safety check.'],
    ['passed by', 'turn/moderationMetadata', 'It is only about the model’s server.'],
    ['shown', 'thread/goal/updated thread/goal/cleared', 'They report the goal of the thread.'],
    [
      'passed by',
      'thread/reverted',
      'The answer to `thread/revert` contains the same information.',
    ],
    [
      'passed by',
      'thread/readState/changed thread/archived thread/deleted thread/unarchived thread/section/changed thread/attachment/updated thread/project/updated project/changed thread/queue/changed thread/prediction/updated thread/search/partial',
      'They follow from requests that Liminal does not make.',
    ],
    [
      'passed by',
      'command/exec/outputDelta process/outputDelta process/exited fs/changed fuzzyFileSearch/sessionUpdated fuzzyFileSearch/sessionCompleted mcpServer/oauthLogin/completed mcpServer/event/stream/notification externalAgentConfig/import/progress externalAgentConfig/import/completed account/login/completed account/gatewayOAuth/changed',
      'They follow from requests that Liminal does not make.',
    ],
    [
      'passed by',
      'account/updated app/list/updated remoteControl/status/changed thread/environment/connected thread/environment/disconnected',
      'They are about features that people set up in Codex itself.',
    ],
    [
      'passed by',
      'thread/realtime/started thread/realtime/itemAdded thread/realtime/item/started thread/realtime/item/transcript/delta thread/realtime/item/completed thread/realtime/transcript/delta thread/realtime/transcript/done thread/realtime/outputAudio/delta thread/realtime/sdp thread/realtime/error thread/realtime/closed',
      'Liminal does not support speech.',
    ],
    [
      'passed by',
      'windows/worldWritableWarning windowsSandbox/setupCompleted',
      'They exist only for Windows.',
    ],
  ],
};

export const codexServerRequests: Section = {
  title: 'Codex: requests to Liminal',
  rows: [
    [
      'used',
      'item/commandExecution/requestApproval item/fileChange/requestApproval item/permissions/requestApproval',
      'They ask people for a permission.',
    ],
    [
      'used',
      'item/tool/requestUserInput mcpServer/elicitation/request',
      'They ask people questions.',
    ],
    ['not used', 'item/tool/call', 'It calls tools of the client, and Liminal offers none.'],
    [
      'not used',
      'account/chatgptAuthTokens/refresh attestation/generate',
      'They are for clients that sign in to ChatGPT themselves.',
    ],
    [
      'not used',
      'applyPatchApproval execCommandApproval',
      'They are an older form of the permission requests above, for threads that Liminal does not begin.',
    ],
  ],
};

export const codexItems: Section = {
  title: 'Codex: items of a turn',
  rows: [
    [
      'shown',
      'userMessage agentMessage reasoning plan hookPrompt contextCompaction',
      'They are the messages, thoughts and plans of the turn.',
    ],
    [
      'shown',
      'commandExecution fileChange mcpToolCall dynamicToolCall collabAgentToolCall webSearch imageView imageGeneration sleep functionCallOutput',
      'They are tool calls with their results.',
    ],
    ['shown', 'enteredReviewMode exitedReviewMode', 'They contain the text of a review.'],
    [
      'kept',
      'subAgentActivity',
      'The calls that begin and end a task contain the same information.',
    ],
  ],
};
