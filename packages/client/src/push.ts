import { fromBase64url } from './base64url.ts';
import {
  createPushSubscription,
  deletePushSubscription,
  getPushKey,
  listPushSubscriptions,
} from './generated/operations.ts';
import type { Call, Output } from './types.ts';

/** `blocked`: the user has forbidden notifications of this page, and only the settings of the browser change that. */
export type PushStatus = 'unsupported' | 'blocked' | 'off' | 'on';

export interface Push {
  /**
   * Whether this browser gets the push messages of the account that is signed in: a subscription of another account, for an
   * earlier key, or that the service has ended is `off`. @throws ApiError, NetworkError
   */
  status(): Promise<PushStatus>;
  /**
   * Asks the user for permission, and has notifications pushed to this browser. Call it from a button.
   *
   * @param worker the path of the service worker that shows them
   * @throws ApiError, or a `NotAllowedError` when the user does not agree
   */
  subscribe(worker: string): Promise<Output<'createPushSubscription'>>;
  /** Ends that. The browser gets no push messages from then on, also when this throws. @throws ApiError, NetworkError */
  unsubscribe(): Promise<void>;
}

/** In `localStorage`: by which id the service knows the subscription of this browser, and for which key that is. */
const storageKey = 'dure.push';

export function createPush(call: Call, isSignedIn: () => boolean): Push {
  async function current(): Promise<PushSubscription | null | undefined> {
    const registration = await navigator.serviceWorker?.getRegistration();
    return registration?.pushManager?.getSubscription();
  }

  function save(subscription: PushSubscription) {
    const { p256dh = '', auth = '' } = subscription.toJSON().keys ?? {};
    return call(createPushSubscription, { endpoint: subscription.endpoint, keys: { p256dh, auth } });
  }

  return {
    async status() {
      // On an iPhone, only pages on the home screen have it.
      if (!('PushManager' in globalThis && 'serviceWorker' in navigator)) return 'unsupported';
      if (Notification.permission === 'denied') return 'blocked';
      if (!(await current()) || !isSignedIn()) return 'off';
      const { public_key } = await call(getPushKey);
      const { items } = await call(listPushSubscriptions);
      const kept = localStorage.getItem(storageKey);
      return items.some(({ id }) => kept === id + public_key) ? 'on' : 'off';
    },
    async subscribe(worker) {
      // Before anything else, while the press of the button counts.
      if ((await Notification.requestPermission()) !== 'granted') {
        throw new DOMException('The user allows no notifications', 'NotAllowedError');
      }
      const { public_key } = await call(getPushKey);
      await navigator.serviceWorker.register(worker);
      const { pushManager } = await navigator.serviceWorker.ready;
      // One for an earlier key of the service would be in the way.
      await (await current())?.unsubscribe();
      const applicationServerKey = fromBase64url(public_key);
      const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
      try {
        const saved = await save(subscription);
        localStorage.setItem(storageKey, saved.id + public_key);
        return saved;
      } catch (error) {
        await subscription.unsubscribe();
        throw error;
      }
    },
    async unsubscribe() {
      const subscription = await current();
      if (!subscription) return;
      try {
        // The service responds with the id of what it knows.
        const { id } = await save(subscription);
        await call(deletePushSubscription, { subscription_id: id });
      } finally {
        await subscription.unsubscribe();
      }
    },
  };
}
