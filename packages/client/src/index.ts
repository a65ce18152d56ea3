export type { AccessTokenSource } from './access-token.ts';
export { type BaseClient, type BaseClientOptions, createBaseClient } from './base-client.ts';
export { newIdempotencyKey } from './caller.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export {
  ApiError,
  type ApiErrorOf,
  type FieldError,
  isApiError,
  NetworkError,
  TimeoutError,
  UnexpectedResponseError,
} from './errors.ts';
export * from './generated/enums.ts';
export * from './generated/operations.ts';
export type { NotificationFeed } from './live/feed.ts';
export type { NotificationListeners } from './live/subscriptions.ts';
export type { Notification, StreamStatus, StreamTimes } from './live/types.ts';
export { LoginWithError, type LoginWithOptions, type LoginWithResult } from './login-with.ts';
export type * from './models.ts';
export type { ClientHooks, ObservedRequest, ObservedResponse } from './observer.ts';
export type { FormFile, NativeFile } from './operation-call.ts';
export { items, pages } from './pages.ts';
export { type NewPasskeyOptions, type PasskeyLoginOptions, supportsPasskeys } from './passkeys.ts';
export type { PushStatus } from './push.ts';
export type { AuthChange, AuthEvent, SignedOutReason } from './session.ts';
export { browserStorage, memoryStorage, type TokenStorage, type Tokens } from './tokens.ts';
export type {
  CallOptions,
  CallResponse,
  ErrorCode,
  ErrorCodeOf,
  ErrorDataOf,
  Input,
  Item,
  Language,
  Method,
  Operation,
  OperationId,
  Output,
  ReadOperationId,
} from './types.ts';
export type { UploadProgress } from './upload.ts';
