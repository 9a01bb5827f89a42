/**
 * The vocabulary of Liminal, and pure code that all packages share. The code runs in browsers: it uses no Node
 * built-ins, clock, timers, randomness or I/O.
 */
export { changedCallFields, callDifferences } from './asked-call.ts';
export { whyNotAccepted } from './accepted.ts';
export * from './api/index.ts';
export { appendText } from './append-text.ts';
export * from './blobs.ts';
export * from './content.ts';
export * from './cursor.ts';
export { defaultOption } from './default-option.ts';
export { closeList, closeObject, comma, eachMark, hasMoreValues } from './json-marks.ts';
export { cutDepth, isDepthCut, maxDepth, withinDepth } from './depth.ts';
export { cutText, headOf, maxHeadSize, maxItemSize, sizeOf, tailOf, withinSize } from './size.ts';
export { toResponsesEvent, toResponsesResponse, type UuidOf } from './dialects/responses.ts';
export * from './dialects/responses-schema.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './exports/export-file.ts';
export { type ExportPart, readExport } from './exports/read-export.ts';
export { rebuildEvents } from './exports/rebuild-events.ts';
export { closeItem, closeOpenItems, closingOf, type Closing } from './folds/close-open-items.ts';
export { responseToUpserts, summarizeTurn } from './folds/history.ts';
export { takenBack, withoutTakenBack } from './folds/taken-back.ts';
export {
  changedBy,
  currentItems,
  emptyResponse,
  foldResponse,
  hasEnded,
  toResponse,
  type ResponseState,
} from './folds/response.ts';
export { callKeyOf, callKeysOf, isAnswer, isCall } from './folds/pair-answers.ts';
export { progressOf, viewsOf } from './folds/views.ts';
export { itemText, withText } from './folds/item-text.ts';
export { itemStart, pickDefined } from './folds/start-item.ts';
export { PersistentMap } from './folds/persistent-map.ts';
export { resumeResponse, resumeUpsertFold } from './folds/resume.ts';
export {
  destroyUpsertFold,
  flushAll,
  flushIdle,
  foldUpsert,
  nextFlushAt,
  onEpoch,
  startUpsertFold,
} from './folds/upsert.ts';
export { defaultUpsertFoldConfig, type UpsertFoldConfig } from './folds/upsert-config.ts';
export type { FoldResult, UpsertFoldState } from './folds/upsert-state.ts';
export { maskedAnswer, maskSecrets } from './forms/mask-secrets.ts';
export { formProblem, type FormValue, valueProblem } from './forms/check-content.ts';
export {
  type FieldChoice,
  type Field,
  type FieldValue,
  type NumberField,
  type OneField,
  readFields,
  type SeveralField,
  type TextField,
  type TextFormat,
} from './forms/read-fields.ts';
export { GrowingText } from './growing-text.ts';
export {
  codePointName,
  escapeHiddenInJson,
  hasHidden,
  markHidden,
  splitHidden,
} from './hidden-characters.ts';
export { imageType } from './image-type.ts';
export * from './items.ts';
export { LineSplitter } from './line-splitter.ts';
export { BoundedMap } from './bounded-map.ts';
export * from './mcp-servers.ts';
export * from './response.ts';
export { type ReplacedBlob, Redactor } from './secrets/redactor.ts';
export { isSecretName, knownSecretRule, secretRules } from './secrets/rules.ts';
export * from './sessions.ts';
export {
  type Attributes,
  requestAttributes,
  schemaUrl as spanSchemaUrl,
  stageAttributes,
} from './spans/names.ts';
export { toOtlp } from './spans/otlp.ts';
export { runSpans, type Span } from './spans/run-spans.ts';
export { spanIdOf } from './spans/span-ids.ts';
export { WithdrawnSpans } from './spans/withdrawn-spans.ts';
export * from './trace-context.ts';
export * from './upserts.ts';
export * from './mentions.ts';
export { hideUrlSecrets } from './url-secrets.ts';
export * from './usage.ts';
export { changedFileNotes, sessionDiffNotes } from './changed-files.ts';
export { withRetries } from './with-retries.ts';
export * from './wire/http.ts';
export * from './wire/websocket.ts';
