/** What Liminal does with each name that Codex's app-server declares. */
import type { Section } from './row.ts';

export const codexRequests: Section = {
  title: 'Codex: requests',
  rows: [
    ['used', 'initialize initialized', 'They begin the process.'],
    [
      'used',
      'thread/start thread/resume thread/fork thread/unsubscribe thread/list thread/turns/list',
      'Sessions, and their history.',
    ],
    [
      'used',
      'turn/start turn/steer turn/interrupt review/start thread/compact/start',
      'Messages and commands.',
    ],
    [
      'used',
      'thread/settings/update model/list collaborationMode/list config/read',
      'The settings of a session.',
    ],
    [
      'used',
      'thread/backgroundTerminals/clean thread/backgroundTerminals/terminate',
      'They end what a turn or a session leaves running.',
    ],
    [
      'used',
      'skills/list hooks/list',
      'Skills are offered as commands; hooks that Codex leaves out are reported.',
    ],
    [
      'used',
      'account/read account/rateLimits/read',
      'Whether Codex is signed in, and the limits of the account.',
    ],
    ['used', 'thread/shellCommand', 'A message that begins with `!` is a person’s own command.'],
    [
      'used',
      'thread/prepareApprovedPlan fs/writeFile fs/createDirectory',
      'A plan is implemented in a fresh thread of the session; the thread reads the plan from a file.',
    ],
    ['used', 'mcpServerStatus/list mcpServer/oauth/login', 'The MCP servers of a session.'],
    ['used', 'permissionProfile/list', '*Status and setup*: permission profiles.'],
    ['used', 'thread/sample', 'A question beside the conversation.'],
    [
      'not used',
      'config/mcpServer/reload',
      'It concerns all threads at once; a session that is started anew reads the configuration anew.',
    ],
    [
      'not used',
      'mcpServer/resource/read mcpServer/tool/call mcpServer/event/stream/start mcpServer/event/stream/stop',
      'The model uses MCP servers, not Liminal.',
    ],
    ['used', 'thread/revert', 'A conversation goes back to before a message.'],
    ['used', 'thread/goal/get', 'The goal that a thread has when it is opened.'],
    ['not used', 'thread/goal/set thread/goal/clear', 'Goals are set in Codex’ own terminal.'],
    ['not used', 'thread/backgroundTerminals/list', 'The notifications say which commands run.'],
    ['not used', 'turn/settings/update', 'Settings change between turns.'],
    ['used', 'thread/name/set', 'A session has one title in Liminal and in Codex.'],
    [
      'not used',
      'thread/archive thread/unarchive thread/delete thread/metadata/update thread/readState/update',
      'Liminal has an archive and read marks of its own, and leaves those of Codex alone.',
    ],
    [
      'not used',
      'thread/attachment/add thread/attachment/list thread/attachmentOwner/list thread/attachment/remove thread/section/move threadSection/list threadSection/create threadSection/update threadSection/delete project/list project/read project/create project/import project/update project/move project/delete',
      'Codex’ own way to order threads; Liminal orders sessions by their folders.',
    ],
    [
      'not used',
      'thread/queue/add thread/queue/list thread/queue/update thread/queue/delete thread/queue/reorder thread/queue/start',
      'Liminal has a queue of its own, which outlives the process.',
    ],
    [
      'not used',
      'thread/read thread/items/list thread/items/read thread/timeline/list thread/loaded/list getConversationSummary rollout/compress',
      '`thread/turns/list` has the same history.',
    ],
    [
      'not used',
      'thread/search thread/searchOccurrences thread/search/stream thread/search/cancel thread/search/stream/cancel',
      'Liminal searches its own log.',
    ],
    [
      'not used',
      'thread/inject_items thread/sample/cancel thread/prediction/request',
      'Requests to the model beside the conversation.',
    ],
    [
      'not used',
      'thread/increment_elicitation thread/decrement_elicitation',
      'Codex counts its own questions.',
    ],
    [
      'not used',
      'thread/approveGuardianDeniedAction thread/guardianReview',
      'The reviewer’s verdict is shown, and cannot be overruled in Liminal yet.',
    ],
    [
      'not used',
      'thread/memoryMode/set thread/memory/read memory/status memory/reset',
      'Codex’ memories follow its own configuration.',
    ],
    [
      'not used',
      'thread/realtime/start thread/realtime/appendAudio thread/realtime/appendText thread/realtime/appendSpeech thread/realtime/stop thread/realtime/list thread/realtime/listVoices',
      'Liminal has no voice.',
    ],
    [
      'not used',
      'skills/extraRoots/set skills/config/write marketplace/add marketplace/remove marketplace/upgrade plugin/list plugin/search plugin/installed plugin/reconcile plugin/read plugin/skill/read plugin/share/save plugin/share/updateTargets plugin/share/list plugin/share/checkout plugin/share/delete plugin/install plugin/uninstall app/read app/list app/installed',
      'Skills, plugins and apps are set up in Codex itself; sessions in Liminal use them.',
    ],
    [
      'not used',
      'config/value/write config/batchWrite configRequirements/read modelProvider/list modelProvider/default/set modelProvider/config/write modelProvider/capabilities/read experimentalFeature/list experimentalFeature/enablement/set',
      'Liminal does not change Codex’ configuration; its own settings hold for one session.',
    ],
    [
      'not used',
      'account/login/start account/login/cancel account/logout accountSession/list accountSession/switch account/gatewayOAuth/read account/gatewayOAuth/login account/gatewayOAuth/cancel account/bedrock/discover account/bedrock/setup account/bedrock/checkGovCloudRequirements account/gcp/setup account/securitySetup/read getAuthStatus userVerification/status userVerification/enroll userVerification/delete userVerification/verify userVerification/cancel',
      'You sign in with `codex login`, in a terminal.',
    ],
    [
      'not used',
      'account/rateLimitResetCredit/consume account/usage/read account/workspaceMessages/read account/sendAddCreditsNudgeEmail',
      'The account is managed where it was made.',
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
      'Codex runs beside Liminal, and is reached through it.',
    ],
    [
      'not used',
      'externalAgentConfig/detect externalAgentConfig/import externalAgentConfig/import/recordHistory externalAgentConfig/import/readHistories',
      'They bring settings of other agents into Codex.',
    ],
    ['not used', 'windowsSandbox/setupStart windowsSandbox/readiness', 'Only Windows.'],
    [
      'not used',
      'feedback/upload feedback/save server/diagnostics mock/experimentalMethod',
      'They serve Codex’ makers.',
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
    ['shown', 'turn/plan/updated turn/diff/updated', 'The plan, and the changed files.'],
    ['used', 'turn/started turn/completed thread/tokenUsage/updated', 'Turns, with their usage.'],
    ['shown', 'error', 'The attempt is withdrawn, or the turn has failed.'],
    [
      'shown',
      'item/mcpToolCall/progress hook/started hook/completed',
      'What the agent waits for, and what hooks said.',
    ],
    [
      'shown',
      'item/autoApprovalReview/completed model/rerouted modelProvider/authRecoveryStarted modelProvider/authRecoveryCompleted',
      'Words for people, in the turn.',
    ],
    [
      'shown',
      'warning guardianWarning configWarning deprecationNotice mcpServer/startupStatus/updated',
      'Notices of the session.',
    ],
    [
      'used',
      'thread/name/updated thread/settings/updated skills/changed account/rateLimits/updated',
      'The title, the settings, the commands, and the limits of the account.',
    ],
    ['used', 'serverRequest/resolved', 'A question is no longer open.'],
    ['used', 'thread/closed', 'A closed thread can be opened again.'],
    [
      'passed by',
      'thread/started thread/status/changed',
      'The answers to requests, and the turns, say the same.',
    ],
    [
      'passed by',
      'item/reasoning/summaryPartAdded thread/compacted rawResponseItem/completed rawResponse/completed',
      'An item says the same.',
    ],
    ['passed by', 'item/fileChange/outputDelta', 'The item has the whole change at its end.'],
    ['shown', 'item/fileChange/patchUpdated', 'A change of files, while the model writes it.'],
    [
      'shown',
      'item/commandExecution/terminalInteraction',
      'What the model types into a running command.',
    ],
    ['shown', 'item/autoApprovalReview/started', 'The session waits for a review.'],
    ['passed by', 'autoApprovalReview/strictReviewRequired', 'The verdict is shown.'],
    ['shown', 'model/verification', 'A notice.'],
    ['shown', 'model/safetyBuffering/updated', 'The session waits for a safety check.'],
    ['passed by', 'turn/moderationMetadata', 'A fact about the model’s server.'],
    ['shown', 'thread/goal/updated thread/goal/cleared', 'The goal of the thread.'],
    ['passed by', 'thread/reverted', 'The answer to `thread/revert` has the same content.'],
    [
      'passed by',
      'thread/readState/changed thread/archived thread/deleted thread/unarchived thread/section/changed thread/attachment/updated thread/project/updated project/changed thread/queue/changed thread/prediction/updated thread/search/partial',
      'Answers to requests that Liminal does not make.',
    ],
    [
      'passed by',
      'command/exec/outputDelta process/outputDelta process/exited fs/changed fuzzyFileSearch/sessionUpdated fuzzyFileSearch/sessionCompleted mcpServer/oauthLogin/completed mcpServer/event/stream/notification externalAgentConfig/import/progress externalAgentConfig/import/completed account/login/completed account/gatewayOAuth/changed',
      'Answers to requests that Liminal does not make.',
    ],
    [
      'passed by',
      'account/updated app/list/updated remoteControl/status/changed thread/environment/connected thread/environment/disconnected',
      'They are about parts of Codex that are set up in Codex itself.',
    ],
    [
      'passed by',
      'thread/realtime/started thread/realtime/itemAdded thread/realtime/item/started thread/realtime/item/transcript/delta thread/realtime/item/completed thread/realtime/transcript/delta thread/realtime/transcript/done thread/realtime/outputAudio/delta thread/realtime/sdp thread/realtime/error thread/realtime/closed',
      'Liminal has no voice.',
    ],
    ['passed by', 'windows/worldWritableWarning windowsSandbox/setupCompleted', 'Only Windows.'],
  ],
};

export const codexServerRequests: Section = {
  title: 'Codex: requests to Liminal',
  rows: [
    [
      'used',
      'item/commandExecution/requestApproval item/fileChange/requestApproval item/permissions/requestApproval',
      'People are asked for permission.',
    ],
    [
      'used',
      'item/tool/requestUserInput mcpServer/elicitation/request',
      'People are asked questions.',
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
      'The older form of the permissions above, for threads that Liminal does not begin.',
    ],
  ],
};

export const codexItems: Section = {
  title: 'Codex: items of a turn',
  rows: [
    [
      'shown',
      'userMessage agentMessage reasoning plan hookPrompt contextCompaction',
      'The messages, thoughts and plans of the turn.',
    ],
    [
      'shown',
      'commandExecution fileChange mcpToolCall dynamicToolCall collabAgentToolCall webSearch imageView imageGeneration sleep functionCallOutput',
      'Tool calls, with their results.',
    ],
    ['shown', 'enteredReviewMode exitedReviewMode', 'The words of a review.'],
    ['kept', 'subAgentActivity', 'The calls that begin and end a task say the same.'],
  ],
};
