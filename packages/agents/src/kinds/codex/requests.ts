/** Codex' requests to people: permission for a command, a patch or more rights, and answers to questions. */
import type {
  ApprovalOption,
  ApprovalOutcome,
  AskedCall,
  FormContent,
  FormField,
} from '@liminal/protocol';
import { z } from 'zod';
import { type Ask, Elicitations, mcpServerAsks } from '../../base/elicitations.ts';
import type { ApprovalQuestion } from '../../base/pending-approvals.ts';
import { commandCall, mcpCall } from './translate/tools.ts';
import { CommandAction } from './translate/wire.ts';

const words = z.string().nullish().catch(undefined);

const Command = z.looseObject({
  itemId: z.string(),
  /** If this is `writeStdin`, `command` is not a command but input for a running command. */
  kind: words,
  reason: words,
  command: words,
  cwd: words,
  commandActions: z.array(CommandAction).catch([]),
  networkApprovalContext: z.looseObject({ host: z.string() }).nullish().catch(undefined),
  proposedExecpolicyAmendment: z.array(z.string()).nullish().catch(undefined),
  proposedNetworkPolicyAmendments: z
    .array(z.looseObject({ host: z.string(), action: z.string() }))
    .nullish()
    .catch(undefined),
  /** Further rights that the command needs. */
  additionalPermissions: z.unknown().optional(),
  /** The decisions that Codex accepts as an answer; older versions do not list them. */
  availableDecisions: z.array(z.unknown()).nullish().catch(undefined),
});
type Command = z.infer<typeof Command>;

const Patch = z.looseObject({ itemId: z.string(), reason: words, grantRoot: words });

const Permissions = z.looseObject({
  itemId: z.string(),
  reason: words,
  permissions: z.unknown().optional(),
});

const Question = z.looseObject({
  id: z.string(),
  header: z.string().catch(''),
  question: z.string().catch(''),
  isOther: z.boolean().catch(false),
  /** Whether the answer is secret. A secret answer must be neither shown nor stored. */
  isSecret: z.boolean().catch(false),
  options: z
    .array(z.looseObject({ label: z.string(), description: z.string().catch('') }))
    .nullish()
    .catch(undefined),
});
type Question = z.infer<typeof Question>;
const Questions = z.looseObject({
  itemId: z.string(),
  questions: z.array(Question),
  /** The time limit for an answer, in ms. After the limit, the turn continues without an answer. */
  autoResolutionMs: z.number().positive().nullish().catch(undefined),
});

const ToolRequest = z.looseObject({
  codex_approval_kind: z.string(),
  persist: z.array(z.string()).catch([]),
  tool_name: z.string().optional().catch(undefined),
  tool_params: z.unknown().optional(),
});

const Elicitation = z.looseObject({
  mode: z.string(),
  message: z.string().catch(''),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  serverName: z.string().optional().catch(undefined),
  _meta: ToolRequest.nullish().catch(undefined),
});
type Elicitation = z.infer<typeof Elicitation>;

/** An option for people, and the value that Codex gets if a person chooses it. */
interface DecisionChoice extends ApprovalOption {
  decision: unknown;
}

const once: DecisionChoice = {
  optionId: 'accept',
  name: 'Allow',
  kind: 'allow_once',
  decision: 'accept',
};
const session = (name: string): DecisionChoice => ({
  optionId: 'acceptForSession',
  name,
  kind: 'allow_always',
  decision: 'acceptForSession',
});
const declineOption = { optionId: 'decline', kind: 'reject_once', takesNote: true } as const;
const declineChoices: DecisionChoice[] = [
  { ...declineOption, name: 'Reject', decision: 'decline' },
];

/** Asks people the questions in Codex' requests, and answers in Codex' format. */
export class CodexRequests {
  readonly #ask: Ask;
  readonly #elicitations: Elicitations;

  constructor(ask: Ask) {
    this.#ask = ask;
    this.#elicitations = new Elicitations(ask);
  }

  /** Resolves with the answer for Codex. Rejects if the request is not supported or malformed. */
  serve(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case 'item/commandExecution/requestApproval':
        return this.#command(Command.parse(params), signal);
      case 'item/fileChange/requestApproval':
        return this.#patch(Patch.parse(params), signal);
      case 'item/permissions/requestApproval':
        return this.#permissions(Permissions.parse(params), signal);
      case 'item/tool/requestUserInput':
        return this.#questions(Questions.parse(params), signal);
      case 'mcpServer/elicitation/request':
        return this.#elicit(Elicitation.parse(params), signal);
      default:
        return Promise.reject(new Error(`Liminal does not support ${method}.`));
    }
  }

  async #command(asked: Command, signal: AbortSignal): Promise<unknown> {
    const { itemId: callId, reason, command, networkApprovalContext: network } = asked;
    const isInput = asked.kind === 'writeStdin';
    const title = network == null ? titleOfCommand(asked) : `Connect to ${network.host}`;
    const description = withRights(reason, asked.additionalPermissions);
    const question = {
      title,
      callId,
      ...(description !== '' && { description }),
      ...(command != null && { asked: (isInput ? sentInput : askedCommand)(asked, command) }),
    };
    return this.#decide(question, commandChoices(asked), signal);
  }

  #patch({ itemId: callId, reason, grantRoot }: z.infer<typeof Patch>, signal: AbortSignal) {
    const title = grantRoot == null ? 'Change files' : `Change files in ${grantRoot}`;
    const question = { title, callId, ...(reason != null && { description: reason }) };
    return this.#decide(
      question,
      [once, session('Allow all changes in this session'), ...declineChoices],
      signal,
    );
  }

  async #permissions(
    { itemId: callId, reason, permissions }: z.infer<typeof Permissions>,
    signal: AbortSignal,
  ): Promise<unknown> {
    const description = withRights(reason, permissions);
    const choices: DecisionChoice[] = [
      { ...once, name: 'Allow for this turn', decision: 'turn' },
      { ...session('Allow in this session'), decision: 'session' },
      ...declineChoices,
    ];
    const question = { title: 'Give Codex more rights', description, callId };
    const chosen = await this.#choose(question, choices, signal);
    const isGranted = chosen?.kind.startsWith('allow') === true;
    return isGranted
      ? { permissions, scope: chosen?.decision }
      : { permissions: {}, scope: 'turn' };
  }

  async #questions(
    { itemId: callId, questions, autoResolutionMs: limitMs }: z.infer<typeof Questions>,
    signal: AbortSignal,
  ): Promise<unknown> {
    const fields = questions.map((one) => [one.id, fieldOf(one)] as const);
    const [first] = questions;
    const title =
      questions.length === 1 ? (first?.question ?? '') : `${questions.length} questions`;
    const outcome = await this.#ask(
      {
        title,
        callId,
        ...(limitMs != null && { deadline: new Date(Date.now() + limitMs).toISOString() }),
        options: questionOptions,
        form: { properties: Object.fromEntries(fields), required: fields.map(([name]) => name) },
      },
      signal,
    );
    return { answers: isAllowed(outcome) ? answersIn(outcome.content ?? {}) : {} };
  }

  /** Handles a form. A form without fields is Codex' request for permission to call an MCP server's tool. */
  async #elicit(params: Elicitation, signal: AbortSignal): Promise<unknown> {
    const { _meta: tool } = params;
    if (tool != null) {
      const choices = lastingFor(params).filter(({ optionId }) => tool.persist.includes(optionId));
      const question = {
        title: params.message,
        ...askedByServer(params),
        ...toolWords(params.serverName, tool),
      };
      const chosen = await this.#choose(question, [once, ...choices, ...declineChoices], signal);
      if (chosen === undefined) return { action: 'cancel', content: null, _meta: null };
      if (chosen.decision === 'decline') return { action: 'decline', content: null, _meta: null };
      const _meta = chosen.decision === 'accept' ? null : { persist: chosen.decision };
      return { action: 'accept', content: {}, _meta };
    }
    if (params.mode === 'openai/userVerification') return this.#declineVerification(params, signal);
    const mode = formsOfOpenAI.has(params.mode) ? 'form' : params.mode;
    const answer = await this.#elicitations.elicit(
      { ...params, mode },
      signal,
      askedByServer(params),
    );
    if (answer === undefined)
      throw new Error(`Liminal does not support forms of kind “${params.mode}”.`);
    const content = answer.action === 'accept' ? (answer.content ?? null) : null;
    return { action: answer.action, content, _meta: null };
  }

  /**
   * Asks people about a request to confirm their identity. The only answer is to decline, because only Codex' own
   * programs can confirm an identity.
   */
  async #declineVerification(params: Elicitation, signal: AbortSignal): Promise<unknown> {
    const { title = 'Confirm who you are', description = '' } = params;
    const why = 'Only Codex’ own app can confirm this. Decline here, and repeat the request there.';
    const question = { title, ...askedByServer(params), description: `${description}\n\n${why}` };
    await this.#choose(
      question,
      [{ ...declineOption, name: 'Decline', decision: 'decline' }],
      signal,
    );
    return { action: 'decline', content: null, _meta: null };
  }

  async #decide(
    question: Omit<ApprovalQuestion, 'options'>,
    choices: DecisionChoice[],
    signal: AbortSignal,
  ): Promise<unknown> {
    const chosen = await this.#choose(question, choices, signal);
    return { decision: chosen?.decision ?? 'cancel' };
  }

  /** Returns the chosen option; undefined if the question was withdrawn. */
  async #choose(
    question: Omit<ApprovalQuestion, 'options'>,
    choices: DecisionChoice[],
    signal: AbortSignal,
  ): Promise<DecisionChoice | undefined> {
    const options = choices.map(({ optionId, name, kind, takesNote }) => ({
      optionId,
      name,
      kind,
      ...(takesNote === true && { takesNote }),
    }));
    const outcome = await this.#ask({ ...question, options }, signal);
    if (outcome.outcome === 'cancelled') return undefined;
    return choices.find(({ optionId }) => optionId === outcome.optionId);
  }
}

const formsOfOpenAI: ReadonlySet<string> = new Set(['openai/form', 'openaiForm']);

const askedByServer = ({ serverName }: Elicitation): Pick<ApprovalQuestion, 'askedBy'> =>
  serverName === undefined ? {} : { askedBy: mcpServerAsks(serverName) };

function titleOfCommand({ kind, command }: Command): string {
  if (kind === 'writeStdin') return 'Send input to a running command';
  return `Run ${command ?? 'a command'}`;
}

/** Returns the call that sends input to a running command, with the name and the field that Codex uses. */
const sentInput = ({ kind }: Command, input: string): AskedCall => ({
  name: kind ?? 'writeStdin',
  title: 'Send input to a running command',
  kind: 'execute',
  arguments: JSON.stringify({ input }),
});

function askedCommand({ cwd, commandActions }: Command, command: string): AskedCall {
  return commandCall({ command, cwd: cwd ?? '', commandActions }, cwd ?? '');
}

/** Returns the call of an MCP tool with all of its arguments; for any other request, the whole request as JSON. */
function toolWords(
  server: string | undefined,
  tool: z.infer<typeof ToolRequest>,
): Pick<ApprovalQuestion, 'asked' | 'description'> {
  const { tool_name: name, tool_params: input } = tool;
  if (server === undefined || name === undefined) {
    return { description: JSON.stringify(tool, null, 2) };
  }
  return { asked: mcpCall(server, name, input ?? {}) };
}

/** Returns the options that allow a tool for longer than one call. */
function lastingFor({ serverName: server, _meta: tool }: Elicitation): DecisionChoice[] {
  const isNamed = server !== undefined && tool?.tool_name !== undefined;
  const what = isNamed ? ` every use of ${tool.tool_name} of ${server}` : '';
  const kind = 'allow_always';
  const inSession = `Allow${what} in this session`;
  return [
    { optionId: 'session', name: inSession, kind, decision: 'session' },
    { optionId: 'always', name: `Always allow${what}`, kind, decision: 'always' },
  ];
}

/** Returns the reason for a request and the rights that the request asks for, as text. */
const withRights = (reason: string | null | undefined, rights: unknown): string =>
  [reason ?? '', rights == null ? '' : JSON.stringify(rights, null, 2)].join('\n\n').trim();

function commandChoices(asked: Command): DecisionChoice[] {
  const { proposedExecpolicyAmendment: prefix, proposedNetworkPolicyAmendments: hosts } = asked;
  const choices = [once];
  const lasts = asked.availableDecisions?.includes('acceptForSession');
  if (lasts ?? (hosts == null && prefix == null)) choices.push(session('Allow in this session'));
  if (prefix != null && prefix.length > 0) {
    choices.push({
      optionId: 'amend',
      name: `Always allow ${prefix.join(' ')} …`,
      kind: 'allow_always',
      decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } },
    });
  }
  for (const [at, amendment] of (hosts ?? []).entries()) {
    const isAllowed = amendment.action === 'allow';
    choices.push({
      optionId: `network-${at}`,
      name: `${isAllowed ? 'Always allow' : 'Never allow'} ${amendment.host}`,
      kind: isAllowed ? 'allow_always' : 'reject_always',
      decision: { applyNetworkPolicyAmendment: { network_policy_amendment: amendment } },
    });
  }
  return [...choices, ...declineChoices];
}

const questionOptions: ApprovalOption[] = [
  { optionId: 'accept', name: 'Answer', kind: 'allow_once' },
  { ...declineOption, name: 'Skip' },
];

function fieldOf({ header, question, isOther, isSecret, options }: Question): FormField {
  const title = question || header;
  const secret = isSecret ? { format: 'password' } : {};
  if (options == null || options.length === 0) return { type: 'string', title, ...secret };
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: label,
    ...(description !== '' && { description }),
  }));
  return { type: 'string', title, ...secret, oneOf: choices, other: isOther };
}

const answersIn = (content: FormContent): Record<string, { answers: string[] }> =>
  Object.fromEntries(
    Object.entries(content).map(([id, given]) => [
      id,
      { answers: Array.isArray(given) ? given : [String(given)] },
    ]),
  );

const isAllowed = (
  outcome: ApprovalOutcome,
): outcome is Extract<ApprovalOutcome, { outcome: 'selected' }> =>
  outcome.outcome === 'selected' && outcome.optionId === 'accept';
