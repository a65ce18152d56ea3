import type {
  CreatePartnerRequestErrors,
  ListNotificationsResponse,
  ListPartnerRequestsResponse,
} from './hey-api/types.gen';
import type { operations } from './openapi-typescript/api';

/*
 * Code of a client team, compiled with the generated clients: the schema of an error follows from its code, that of a partnership
 * request from its box, and that of a notification from its kind.
 */

type Failures = operations['createPartnerRequest']['responses'];

export function waitOf({ data }: Failures[429]['content']['application/json']): number {
  return data.retry_after;
}

export function reasonOf({ data }: Failures[401]['content']['application/json']): string {
  if (data.code === 'not_authenticated') {
    // @ts-expect-error only a rejected token has a reason
    return data.reason;
  }
  return data.reason;
}

export function fieldsOf({ data }: CreatePartnerRequestErrors[400]): Record<string, string[]> {
  // @ts-expect-error only a validation error has fields
  if (data.code === 'malformed_json') return data.fields;
  return data.code === 'validation_error' ? data.fields : {};
}

export function storesOf({ data }: ListPartnerRequestsResponse): string[] {
  return data.items.map((request) =>
    request.box === 'sent' ? request.receiver_store_name : request.sender_store.name,
  );
}

export function titlesOf({ data }: ListNotificationsResponse): string[] {
  return data.items.map((notification) => {
    if (notification.kind === 'saved_search_match') return notification.post.title;
    if (notification.kind === 'saved_search_digest') return `${notification.count}`;
    return notification.partner_request.post_title;
  });
}
